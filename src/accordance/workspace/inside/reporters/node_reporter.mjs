// Reports every test of Node's own test runner, as lines of JSON in the file that
// BUILD_REPORT names (see sitecustomize.py for the events). Node runs each test file in
// a process of its own, so this code and the code of the tree never share a process.

import { appendFileSync } from "node:fs";
import { relative } from "node:path";

const MOST_TEXT = 4000; // characters kept of why a test failed
const place = process.env.BUILD_REPORT;
const owner = process.env.BUILD_REPORT_OWNER;
const isNested = owner !== undefined && owner !== String(process.pid);
process.env.BUILD_REPORT_OWNER = owner ?? String(process.pid);

let number = 0;

function emit(event, more) {
  if (!place || isNested) return;
  const line = { pid: process.pid, number, event, ...more };
  appendFileSync(place, JSON.stringify(line) + "\n");
  number += 1;
}

function outcomeOf(type, test) {
  if (test.skip !== undefined && test.skip !== false) return "skipped";
  if (test.todo !== undefined && test.todo !== false) {
    return type === "test:pass" ? "xpassed" : "xfailed";
  }
  return type === "test:pass" ? "passed" : "failed";
}

function textOf(error) {
  if (!error) return "";
  const cause = error.cause ?? error;
  return String(cause.stack ?? cause).slice(0, MOST_TEXT);
}

function idOf(file, names) {
  const short = file ? relative(process.cwd(), file) : "";
  const isTheFile = names.length === 1 && names[0] === file;
  return isTheFile ? short : [short, ...names].join(" > ");
}

export default async function* report(source) {
  const open = new Map(); // by file: the names of the tests around the current one
  let failed = 0;
  emit("begin", { runner: "node", version: process.version });
  for await (const { type, data } of source) {
    if (type === "test:start") {
      const names = open.get(data.file) ?? [];
      names.length = data.nesting;
      names[data.nesting] = data.name;
      open.set(data.file, names);
    }
    if (type !== "test:pass" && type !== "test:fail") continue;

    const around = (open.get(data.file) ?? []).slice(0, data.nesting);
    const test = idOf(data.file, [...around, data.name]);
    const outcome = outcomeOf(type, data);
    const { details } = data;
    const isSuite = details?.type === "suite";
    const onlyParts = details?.error?.failureType === "subtestsFailed";
    if (isSuite && (outcome !== "failed" || onlyParts)) continue;

    if (outcome === "failed") failed += 1;
    emit("result", {
      test,
      phase: "call",
      outcome,
      seconds: (details?.duration_ms ?? 0) / 1000,
      text: outcome === "failed" ? textOf(details?.error) : undefined,
    });
  }
  emit("end", { status: failed ? 1 : 0 });
}
