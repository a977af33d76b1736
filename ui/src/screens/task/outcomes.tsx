/** Outcomes of attempts and results of checks: an icon, a word, a colour. */
import { IconArrowBackUp, IconArrowUpRight, IconCheck, IconMinus, IconQuestionMark, IconX } from "@tabler/icons-react";
import type { ComponentType } from "react";

import { type Hue, Dim } from "../../kit";
import { useTexts } from "../../i18n";
import { texts } from "./texts";

type Icon = ComponentType<{ size?: number; stroke?: number; "aria-hidden"?: boolean }>;
const OUTCOMES: Readonly<Record<string, { hue: Hue; icon: Icon }>> = {
  DONE: { hue: "done", icon: IconCheck },
  RETRY: { hue: "ask", icon: IconArrowBackUp },
  ESCALATE: { hue: "check", icon: IconArrowUpRight },
  REJECT: { hue: "fail", icon: IconX },
};
const RESULTS: Readonly<Record<string, { hue: Hue; icon: Icon }>> = {
  passed: { hue: "done", icon: IconCheck },
  failed: { hue: "fail", icon: IconX },
  not_run: { hue: "idle", icon: IconMinus },
  unknown: { hue: "idle", icon: IconQuestionMark },
};

export function Outcome({ outcome }: { outcome: string | null }) {
  const t = useTexts(texts);
  if (outcome === null) return <Dim size="xs">{t.running}</Dim>;
  const { hue, icon: Icon } = OUTCOMES[outcome] ?? { hue: "idle" as const, icon: IconQuestionMark };
  return (
    <span className="pill" data-outcome={outcome} style={{ color: `var(--state-${hue})`, background: `var(--state-${hue}-soft)` }}>
      <Icon size={12} stroke={2.4} aria-hidden />
      {outcome}
    </span>
  );
}

export function CheckResult({ result }: { result: string }) {
  const t = useTexts(texts) as Readonly<Record<string, unknown>>;
  const { hue, icon: Icon } = RESULTS[result] ?? { hue: "idle" as const, icon: IconQuestionMark };
  const word = typeof t[result] === "string" ? (t[result] as string) : result;
  return (
    <span className="check-result" data-result={result} style={{ color: `var(--state-${hue})`, background: `var(--state-${hue}-soft)` }}>
      <Icon size={14} stroke={2.4} aria-hidden />
      <span className="sr-word">{word}</span>
    </span>
  );
}
