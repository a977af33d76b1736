#!/bin/sh
# A person steers a plan: init, five tasks in the short form, approve, run; a key is missing, a task's pins are too
# narrow; amend, answer, DONE. Every command is printed before it runs. Small programs play the agents and the model,
# so nothing but git and accordance is needed: no key, no network.
#
#   sh examples/steering/story.sh FOLDER      (ACCORDANCE_LEDGER=postgresql://... for PostgreSQL)
set -eu
here=$(cd "$(dirname "$0")" && pwd)
folder=${1:?name a new folder: sh examples/steering/story.sh FOLDER}
if [ -e "$folder" ]; then
    echo "$folder exists; name a new folder" >&2
    exit 2
fi

tell() { printf '\n# %s\n' "$1"; }

# Prints a command as it is typed, runs it, and holds it to its exit code: run [CODE] COMMAND
run() {
    expected=0
    if [ $# = 2 ]; then
        expected=$1
        shift
    fi
    printf '$ %s\n' "$1"
    code=0
    eval "$1" || code=$?
    [ "$code" = 0 ] || echo "(exit code $code)"
    if [ "$code" != "$expected" ]; then
        echo "expected exit code $expected" >&2
        exit 1
    fi
}

tell "A project to begin with."
run "accordance init '$folder' --template code-agent"
run "cd '$folder'"

# The shop of this story: its settings, its coder, a test for what is to come, and a model on loopback.
cp "$here/agents/coder.py" agents/coder.py
cp "$here/test_labels.py" repository/tests/test_labels.py
git -C repository add --all
git -C repository -c user.name=you -c user.email=you@localhost commit --quiet --message="Say what labels show"
mkfifo .accordance-model
python3 "$here/agents/model.py" spring-key > .accordance-model &
model=$!
trap 'kill "$model"' EXIT
read -r port < .accordance-model
rm .accordance-model
sed "s/PORT/$port/" "$here/accordance.toml" > accordance.toml
unset SHOP_KEY

tell "Five tasks in the short form. Two of them change the repository."
cp "$here/plan.yaml" plan.yaml
run "cat plan.yaml"
run "accordance plan lint plan.yaml"
run "accordance plan import plan.yaml"

tell "Nothing begins before a person approves it."
run 3 "accordance inbox list"
run "accordance plan approve --note 'As agreed on Monday' --by you"

tell "The model's key is missing: exit code 4."
run 4 "accordance run"
run 3 "accordance inbox list"

tell "Set it. The run goes on by itself, until a change needs a file that its pins do not allow: exit code 3."
run "export SHOP_KEY=spring-key"
run 3 "accordance run"
run 3 "accordance inbox list"
run "accordance task show 'Show the currency'"

tell "Widen the pins of the blocked task, and answer its question by its number."
run "accordance plan amend 'Spring prices' --task 'Show the currency' --allow currency.py --note 'Two files' --yes"
run "accordance inbox answer 3 retry"
run "accordance run --summary summary.md"

tell "What came of it."
run "cat summary.md"
run "accordance plan list"
run "git -C repository log --format=%s accordance/spring-prices"
run "accordance verify"
