/** The lines of a file's part of a patch; only those in view exist, and are read when they come into view. */
import { useQueries } from "@tanstack/react-query";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useRef } from "react";

import { get } from "../../api/client";
import { keyOf } from "../../api/queries";
import type { ChangedFileView, PatchLinesView } from "../../api/schema.gen";
import { useTexts } from "../../i18n";
import { visible } from "../../kit";
import { texts } from "./texts";

const LINE = 20;
const WINDOW = 500;
const LONGEST = 2_000;
const HUNK = "@";

interface PatchLinesProps {
  readonly taskId: string;
  readonly file: ChangedFileView;
  readonly attempt: number;
  readonly sinceStart: boolean;
}

export function PatchLines({ taskId, file, attempt, sinceStart }: PatchLinesProps) {
  const t = useTexts(texts);
  const box = useRef<HTMLDivElement>(null);
  const rows = useVirtualizer({
    count: file.lines,
    getScrollElement: () => box.current,
    estimateSize: () => LINE,
    overscan: 40,
  });
  const visibleRows = rows.getVirtualItems();
  const first = Math.floor((visibleRows[0]?.index ?? 0) / WINDOW);
  const last = Math.floor((visibleRows.at(-1)?.index ?? 0) / WINDOW);
  const windows = Array.from({ length: last - first + 1 }, (_, index) => (first + index) * WINDOW);
  const parts = useQueries({
    queries: windows.map((offset) => {
      const params = { task: taskId };
      const query = { path: file.path, attempt, since_start: sinceStart, offset, limit: WINDOW };
      const path = "/v1/tasks/{task}/diff/lines";
      return {
        queryKey: keyOf(path, { params, query }),
        queryFn: ({ signal }: { signal: AbortSignal }) => get(path, { params, query, signal }),
        staleTime: Infinity,
      };
    }),
  });
  const lineAt = (index: number) => {
    const offset = Math.floor(index / WINDOW) * WINDOW;
    const part = parts[windows.indexOf(offset)]?.data;
    return part ? lineOf(part, index - offset) : null;
  };
  return (
    <div ref={box} className="code-box" role="region" aria-label={`${t.diff}: ${file.path}`} tabIndex={0} style={{ maxHeight: "70vh" }}>
      <div style={{ height: rows.getTotalSize(), position: "relative", minWidth: "max-content" }}>
        {visibleRows.map((row) => {
          const line = lineAt(row.index);
          return (
            <div
              key={row.key}
              className="code-line patch-line"
              data-kind={line?.kind}
              data-never-run={line?.neverRun || undefined}
              title={line?.neverRun ? t.neverRun(1) : undefined}
              style={{ position: "absolute", top: 0, left: 0, minWidth: "100%", height: LINE, transform: `translateY(${row.start}px)` }}
            >
              <span className="number">{line?.old || ""}</span>
              <span className="number">{line?.new || ""}</span>
              <span className="mark">{line && line.kind !== HUNK ? line.kind : ""}</span>
              {line ? visible(line.text.slice(0, LONGEST)) : "…"}
            </div>
          );
        })}
      </div>
    </div>
  );
}

interface Line {
  readonly kind: string;
  readonly old: number;
  readonly new: number;
  readonly text: string;
  readonly neverRun: boolean;
}

function lineOf(part: PatchLinesView, index: number): Line | null {
  const text = part.text[index];
  if (text === undefined) return null;
  return {
    kind: part.kinds[index] ?? " ",
    old: part.old[index] ?? 0,
    new: part.new[index] ?? 0,
    text,
    neverRun: part.never_run[index] ?? false,
  };
}
