/** Times, relative to now, and how long something took. */
import { useSyncExternalStore } from "react";

import { type Language, useLanguage } from "../i18n";

const STEPS: readonly [Intl.RelativeTimeFormatUnit, number][] = [
  ["year", 31_536_000],
  ["month", 2_592_000],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
  ["second", 1],
];

let now = Date.now();
const watchers = new Set<() => void>();
setInterval(() => {
  now = Date.now();
  for (const watcher of watchers) watcher();
}, 10_000);

function useNow(): number {
  return useSyncExternalStore(
    (watcher) => {
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
    () => now,
  );
}

export function TimeAgo({ at }: { at: string }) {
  const { language } = useLanguage();
  const current = useNow();
  const then = Date.parse(at);
  if (Number.isNaN(then)) return <span>{at}</span>;
  return (
    <time
      dateTime={at}
      title={new Date(then).toLocaleString(language)}
      style={{ whiteSpace: "nowrap" }}
    >
      {relative(then, current, language)}
    </time>
  );
}

export function relative(then: number, current: number, language: Language): string {
  const seconds = Math.round((then - current) / 1000);
  const format = new Intl.RelativeTimeFormat(language, { numeric: "auto", style: "short" });
  if (Math.abs(seconds) < 10) return format.format(0, "second");
  for (const [unit, size] of STEPS) {
    if (Math.abs(seconds) >= size) return format.format(Math.round(seconds / size), unit);
  }
  return format.format(0, "second");
}

export function Duration({ seconds }: { seconds: number }) {
  return (
    <span style={{ whiteSpace: "nowrap", fontVariantNumeric: "tabular-nums" }}>
      {durationText(seconds)}
    </span>
  );
}

export function durationText(seconds: number): string {
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 60) return `${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
  if (seconds < 86_400)
    return `${Math.floor(seconds / 3600)} h ${Math.round((seconds % 3600) / 60)} min`;
  return `${Math.floor(seconds / 86_400)} d ${Math.round((seconds % 86_400) / 3600)} h`;
}
