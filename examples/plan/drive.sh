#!/bin/sh
# Carries a plan of twelve nodes out with nothing but the accordance commands and a shell: the plan is reviewed, work is
# taken up, messages and reviews are handed in, an input is supplied, one alternative fails and the other is taken, a
# product is returned once, a person confirms. At the end the root is DONE and the ledger verifies.
#
#   sh examples/plan/drive.sh [FOLDER]      (ACCORDANCE_LEDGER=postgresql://... for PostgreSQL)
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cd "${1:-$(mktemp -d)}"

# A reviewer: review TARGET SCORE ACTION NAME:SCORE:MAX...
review() {
    target=$1 id=$2 score=$3 action=$4
    shift 4
    parts=
    for one in "$@"; do
        rest=${one#*:}
        parts="$parts${parts:+,}{\"dimension\": \"${one%%:*}\", \"score\": ${rest%:*}, \"max_score\": ${rest#*:}, \"issues\": []}"
    done
    suggestions=
    [ "$action" = APPROVE ] || suggestions='{"priority": "HIGH", "change": "Add the rye loaf", "steps": ["add it"], "acceptance_criteria": "rye is in the list"}'
    printf '{"schema_version": "xiaojing_review_v1", "task_id": "%s", "review_target": "%s", "total_score": %s, "action_required": "%s", "summary": "%s of 100", "breakdown": [%s], "suggestions": [%s]}' \
        "$id" "$target" "$score" "$action" "$score" "$parts" "$suggestions"
}
good_node() { review NODE "$1" 95 APPROVE Correctness:40:40 Coverage:30:30 Traceability:15:20 Actionability:10:10; }
poor_node() { review NODE "$1" 70 MODIFY Correctness:30:40 Coverage:15:30 Traceability:15:20 Actionability:10:10; }

# An executor: it cannot print, does everything else, and forgets the rye loaf the first time.
action() {
    if [ "$1" = print ]; then
        printf '{"schema_version": "xiaobo_action_v1", "task_id": "print", "result_type": "ERROR", "error": {"code": "NO_PRINTER", "message": "there is no printer"}}'
    else
        printf '{"schema_version": "xiaobo_action_v1", "task_id": "%s", "result_type": "ARTIFACT", "artifact": {"name": "%s", "format": "md", "content": "Attempt %s at %s"}}' "$1" "$1" "$2" "$1"
    fi
}
field() { sed -n "s/^ *\"$1\": \"\{0,1\}\([^\",]*\)\"\{0,1\},\{0,1\}\$/\1/p" next.json | head -n 1; }

accordance plan import "$here/plan.json"
review PLAN spring-catalogue 92 APPROVE Completeness:38:40 "Dependency Soundness:24:25" Executability:18:20 Clarity:12:15 |
    accordance plan review -

mkdir -p workspace/inputs/supplier_sheet
printf 'flour,price\nrye,1.20\nwheat,0.90\n' > workspace/inputs/supplier_sheet/flour-prices.csv

confirmed= returned=
while :; do
    code=0
    accordance task next --worker writer --json > next.json || code=$?
    if [ "$code" = 5 ]; then # what is left may be to review what the writer made: nobody reviews their own work
        code=0
        accordance task next --worker reviewer --json > next.json || code=$?
    fi
    if [ "$code" = 3 ] && [ -z "$confirmed" ]; then
        accordance inbox answer --all yes --filter kind:confirmation --yes --by owner
        confirmed=yes
        continue
    fi
    [ "$code" = 0 ] || break
    kind=$(field kind) task=$(field task_id) attempt=$(field attempt)
    if [ "$kind" = action ]; then
        action "$task" "$attempt" | accordance task submit - --task "$task" --attempt "$attempt"
    else
        target=$(sed -n '/"contract": {/,/}/s/^ *"task_id": "\([^"]*\)".*/\1/p' next.json | head -n 1)
        product=$(sed -n 's/^ *"sha256": "\([0-9a-f]*\)".*/\1/p' next.json | tail -n 1)
        if [ "$target" = price-list ] && [ -z "$returned" ]; then
            returned=yes
            poor_node "$target"
        else
            good_node "$target"
        fi > review.json
        accordance task review review.json --task "$task" --artifact "$product"
    fi
done

accordance plan graph
accordance plan status --once
accordance plan export --to deliverables
accordance verify
accordance plan list | grep -q ' DONE '
