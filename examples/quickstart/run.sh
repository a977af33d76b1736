#!/bin/sh
# A plan over a small repository, carried out by programs: a writer, a reviewer, and four that write code: an honest one, a
# sloppy one, a stubborn one and a lying one. Nothing but git and accordance is needed, no key and no network.
#
#   sh examples/quickstart/run.sh [FOLDER [OPTIONS OF accordance run]]
#   sh examples/quickstart/run.sh work --executor claude     (the same plan by a real agent or model: see README.md)
set -eu
here=$(cd "$(dirname "$0")" && pwd)
folder=${1:-.quickstart}
[ $# = 0 ] || shift
if [ -e "$folder" ] && [ ! -e "$folder/.accordance" ]; then
    echo "$folder is there and is no project of accordance: name another folder" >&2
    exit 2
fi
rm -rf "$folder"
mkdir -p "$folder/workspace/inputs"

# The project: who does what, the plan, the agents, and a repository with one commit.
cp -R "$here/accordance.toml" "$here/plan.json" "$here/agents" "$here/repository" "$folder"
git init --quiet --initial-branch=main "$folder/repository"
git -C "$folder/repository" add --all
git -C "$folder/repository" -c user.name=you -c user.email=you@localhost \
    commit --quiet --message="Parcels, with tests for what is to come"
isolation=auto
if ! accordance doctor --home "$folder" | grep -q "isolation .*kept apart by"; then
    echo "nothing on this machine keeps programs apart (accordance doctor): these agents run with limits only"
    sed 's/^kind = "command"$/&\nisolation = "rlimit"/' "$here/accordance.toml" > "$folder/accordance.toml"
    isolation=rlimit
fi

[ ! -d "$here/../../.agents" ] || export ACCORDANCE_AGENTS="${ACCORDANCE_AGENTS:-$here/../../.agents}" # make agents

accordance plan import "$folder/plan.json" --no-review --by you --home "$folder"
cp "$here/inputs/price-list.csv" "$folder/workspace/inputs/" # what the brief waits for
code=0
accordance run --home "$folder" --isolation "$isolation" "$@" || code=$?

# With these agents one task ends in the dead letters and another waits for a person: that is what 1 says.
[ $# = 0 ] && [ "$code" = 1 ] || exit "$code"
