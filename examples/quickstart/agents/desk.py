"""What the agents of this example share: reading the assignment and handing in. A program in any language could do the same."""

import json
import subprocess
import sys
from pathlib import Path


def read_assignment():
    """Read from standard input what accordance sends: the task, its contract, what came before."""
    return json.load(sys.stdin)


def say(message):
    """Print the message: exactly one JSON object on standard output."""
    print(json.dumps(message))


def product(assignment, name, content, summary):
    """Hand in a text."""
    say(
        {
            "schema_version": "xiaobo_action_v1",
            "task_id": assignment["task"]["task_id"],
            "result_type": "ARTIFACT",
            "artifact": {"name": name, "format": "md", "content": content, "summary": summary},
        }
    )


def change(assignment, summary, **claims):
    """Hand in a change of the repository in the current folder: the evidence as files, the submission as the message.

    `claims` replaces true statements, for agents that lie.
    """
    task = assignment["change"]
    folder = Path("artifacts", task["task_id"])
    (folder / "evidence").mkdir(parents=True, exist_ok=True)
    commands = task.get("allowedTests", [])
    log, code = "", 0
    for command in commands:
        ran = subprocess.run(command, shell=True, capture_output=True, text=True)
        log += f"$ {command}\n{ran.stdout}{ran.stderr}"
        code = code or ran.returncode
    if claims.get("passed"):
        code = 0
    git("add", "--intent-to-add", "--", ".", ":!artifacts")
    changed = git("diff", "--name-only", "HEAD", "--", ".", ":!artifacts").split()
    new = [path for path in changed if not git("ls-tree", "--name-only", "HEAD", path)]
    message = {
        "schema_version": "scc.submit.v1",
        "task_id": task["task_id"],
        "status": claims.get("status", "FAILED" if code else "DONE"),
        **({"reason_code": "CI_FAILED"} if code else {}),
        "changed_files": claims.get("changed", [path for path in changed if path not in new]),
        "new_files": claims.get("new", new),
        "tests": {"commands": commands, "passed": not code, "summary": summary},
        "artifacts": {
            "report_md": f"{folder}/report.md",
            "selftest_log": f"{folder}/selftest.log",
            "evidence_dir": f"{folder}/evidence",
            "patch_diff": f"{folder}/patch.diff",
            "submit_json": f"{folder}/submit.json",
        },
        "exit_code": code,
        "needs_input": claims.get("needs_input", []),
        "summary": summary,
    }
    (folder / "report.md").write_text(f"{summary}\n")
    (folder / "selftest.log").write_text(f"{log}EXIT_CODE={code}\n")
    (folder / "patch.diff").write_text(git("diff", "--binary", "HEAD", "--", ".", ":!artifacts"))
    (folder / "submit.json").write_text(json.dumps(message))
    say(message)


def git(*words):
    """Run git in the current folder."""
    return subprocess.run(("git", *words), capture_output=True, text=True, check=True).stdout
