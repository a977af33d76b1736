/** Code, JSON and logs: text only; of a long text only the lines in view exist. */
import { Button, CopyButton } from "@mantine/core";
import { useVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useMemo, useRef } from "react";

import { useTexts } from "../i18n";
import { visible } from "./text";
import { texts } from "./texts";

const LINE = 20;
const LONGEST_LINE = 4_000; // longer lines are folded, as a browser cannot lay them out

interface CodeProps {
  readonly text: string;
  readonly height?: number; // at most
  readonly numbers?: boolean;
  readonly label: string;
  readonly line?: (text: string, number: number) => ReactNode;
}

export function Code({ text, height = 480, numbers = false, label, line }: CodeProps) {
  const t = useTexts(texts);
  const lines = useMemo(() => linesOf(text), [text]);
  const box = useRef<HTMLDivElement>(null);
  const rows = useVirtualizer({
    count: lines.length,
    getScrollElement: () => box.current,
    estimateSize: () => LINE,
    overscan: 20,
  });
  return (
    <div style={{ position: "relative" }}>
      <CopyButton value={text}>
        {({ copied, copy }) => (
          <Button
            size="compact-xs"
            variant="default"
            onClick={copy}
            style={{ position: "absolute", top: 6, right: 14, zIndex: 1 }}
          >
            {copied ? t.copied : t.copy}
          </Button>
        )}
      </CopyButton>
      <div
        ref={box}
        className="code-box"
        role="region"
        aria-label={label}
        tabIndex={0}
        style={{ maxHeight: height, padding: "8px 0" }}
      >
        <div style={{ height: rows.getTotalSize(), position: "relative", minWidth: "max-content" }}>
          {rows.getVirtualItems().map((row) => (
            <div
              key={row.key}
              className="code-line"
              style={{
                position: "absolute",
                top: 0,
                left: 0,
                minWidth: "100%",
                height: LINE,
                transform: `translateY(${row.start}px)`,
              }}
            >
              {numbers && <span className="number">{row.index + 1}</span>}
              {line ? line(lines[row.index] ?? "", row.index + 1) : visible(lines[row.index] ?? "")}
            </div>
          ))}
        </div>
      </div>
    </div>
  );
}

export function Json({ value, ...rest }: { value: unknown } & Omit<CodeProps, "text">) {
  const text = useMemo(() => JSON.stringify(value, null, 2) ?? "null", [value]);
  return <Code text={text} {...rest} />;
}

function linesOf(text: string): string[] {
  const lines = text.replace(/\r\n?/g, "\n").split("\n");
  if (!lines.some((line) => line.length > LONGEST_LINE)) return lines;
  return lines.flatMap((line) => {
    const parts: string[] = [];
    for (let start = 0; start < line.length; start += LONGEST_LINE)
      parts.push(line.slice(start, start + LONGEST_LINE));
    return parts.length > 0 ? parts : [""];
  });
}
