/** What a question is about: its icon and its word. */
import {
  IconCheck, IconCircleCheck, IconFile, IconFileSearch, IconLifebuoy, IconScale, IconSitemap, IconTarget,
} from "@tabler/icons-react";
import type { ComponentType } from "react";

import { useTexts } from "../../i18n";
import { texts } from "./texts";

const ICONS: Readonly<Record<string, ComponentType<{ size?: number; stroke?: number }>>> = {
  DOCUMENTS: IconFile,
  HELP: IconLifebuoy,
  DECISION: IconScale,
  CONFIRMATION: IconCircleCheck,
  BINDING: IconFileSearch,
  GOAL: IconTarget,
  PLAN: IconSitemap,
  APPROVAL: IconSitemap,
};

export function QuestionKind({ kind, isOpen }: { kind: string; isOpen: boolean }) {
  const word = useWord(`kind${kind}`) ?? kind;
  const Icon = isOpen ? (ICONS[kind] ?? IconScale) : IconCheck;
  const hue = isOpen ? "ask" : "idle";
  return (
    <span className="pill" style={{ color: `var(--state-${hue})`, background: `var(--state-${hue}-soft)` }}>
      <Icon size={12} stroke={2.2} aria-hidden />
      {word}
    </span>
  );
}

/** The word for an answer; some kinds of questions have their own. */
export function useAnswerWord(kind: string, answer: string): string {
  const own = useWord(`word${answer}${kind}`);
  const usual = useWord(`word${answer}`);
  return own ?? usual ?? answer;
}

function useWord(key: string): string | undefined {
  const t = useTexts(texts) as Readonly<Record<string, unknown>>;
  const word = t[key];
  return typeof word === "string" ? word : undefined;
}
