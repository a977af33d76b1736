/** What was wrong with a message, and what was mended in it. */
import { Text } from "@mantine/core";
import type { ReactNode } from "react";

import { useTexts } from "../i18n";
import { AnyText } from "./text";
import { texts } from "./texts";

type Row = Readonly<Record<string, unknown>>;

export function Violations({ items, total }: { items: readonly Row[]; total: number }) {
  const t = useTexts(texts);
  if (items.length === 0) return null;
  return <Listed title={t.violations(items.length, total)}>{items.map((item, index) => <li key={index}><Violation violation={item} /></li>)}</Listed>;
}

export function Warnings({ items }: { items: readonly Row[] }) {
  const t = useTexts(texts);
  if (items.length === 0) return null;
  return <Listed title={t.warnings}>{items.map((item, index) => <li key={index}><Violation violation={item} /></li>)}</Listed>;
}

export function Repairs({ items }: { items: readonly Row[] }) {
  const t = useTexts(texts);
  if (items.length === 0) return null;
  return (
    <Listed title={t.repairs}>
      {items.map((repair, index) => (
        <li key={index}>
          <code>{textOf(repair["path"])}</code> <Text span size="sm" c="dimmed">{textOf(repair["rule"])}</Text>{" "}
          <del><AnyText>{textOf(repair["before"])}</AnyText></del> → <ins><AnyText>{textOf(repair["after"])}</AnyText></ins>
        </li>
      ))}
    </Listed>
  );
}

function Violation({ violation }: { violation: Row }) {
  const t = useTexts(texts);
  const { path, code, expected, actual, fix } = violation;
  const rows: readonly (readonly [string, unknown])[] = [[t.expected, expected], [t.got, actual], [t.fix, fix]];
  return (
    <>
      <code>{textOf(path)}</code> <span className="quiet-code">{textOf(code)}</span>
      {rows.filter(([, value]) => value !== undefined && value !== null).map(([label, value]) => (
        <div key={label}><Text span size="sm" c="dimmed">{label}</Text> <AnyText>{textOf(value)}</AnyText></div>
      ))}
    </>
  );
}

function Listed({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div style={{ marginTop: 12 }}>
      <Text size="sm" fw={600}>{title}</Text>
      <ul className="plain-list">{children}</ul>
    </div>
  );
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}
