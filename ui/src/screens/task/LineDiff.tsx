/** Two texts line by line: what both have, what went, what came. */
import { useMemo } from "react";

import { Code } from "../../kit";
import { visible } from "../../kit";

const MOST = 3_000; // lines of each text; beyond that, all of both is shown

export function LineDiff({ before, after, label }: { before: string; after: string; label: string }) {
  const lines = useMemo(() => compared(before.split("\n"), after.split("\n")), [before, after]);
  return (
    <Code
      text={lines.map(({ text }) => text).join("\n")}
      label={label}
      line={(text, number) => {
        const kind = lines[number - 1]?.kind ?? " ";
        return <span className="patch-text" data-kind={kind}><span className="mark">{kind}</span>{visible(text)}</span>;
      }}
    />
  );
}

export interface ComparedLine {
  readonly kind: " " | "-" | "+";
  readonly text: string;
}

/** The longest common lines stay; equal beginnings and ends are set aside first. */
export function compared(before: readonly string[], after: readonly string[]): readonly ComparedLine[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start += 1;
  let end = 0;
  while (
    end < before.length - start && end < after.length - start
    && before[before.length - 1 - end] === after[after.length - 1 - end]
  ) end += 1;
  const old = before.slice(start, before.length - end);
  const fresh = after.slice(start, after.length - end);
  const same = (text: string): ComparedLine => ({ kind: " ", text });
  return [
    ...before.slice(0, start).map(same),
    ...(old.length > MOST || fresh.length > MOST ? replaced(old, fresh) : aligned(old, fresh)),
    ...before.slice(before.length - end).map(same),
  ];
}

function replaced(old: readonly string[], fresh: readonly string[]): ComparedLine[] {
  return [
    ...old.map((text): ComparedLine => ({ kind: "-", text })),
    ...fresh.map((text): ComparedLine => ({ kind: "+", text })),
  ];
}

function aligned(old: readonly string[], fresh: readonly string[]): ComparedLine[] {
  const width = fresh.length + 1;
  const lengths = new Uint16Array((old.length + 1) * width); // of the common lines behind each pair
  const at = (row: number, column: number) => lengths[row * width + column] ?? 0;
  for (let row = old.length - 1; row >= 0; row -= 1) {
    for (let column = fresh.length - 1; column >= 0; column -= 1) {
      const isSame = old[row] === fresh[column];
      lengths[row * width + column] = isSame ? at(row + 1, column + 1) + 1 : Math.max(at(row + 1, column), at(row, column + 1));
    }
  }
  const lines: ComparedLine[] = [];
  let row = 0;
  let column = 0;
  while (row < old.length || column < fresh.length) {
    const left = old[row];
    const right = fresh[column];
    if (left !== undefined && left === right) {
      lines.push({ kind: " ", text: left });
      row += 1;
      column += 1;
    } else if (left !== undefined && (right === undefined || at(row + 1, column) >= at(row, column + 1))) {
      lines.push({ kind: "-", text: left });
      row += 1;
    } else {
      lines.push({ kind: "+", text: right ?? "" });
      column += 1;
    }
  }
  return lines;
}
