/** States of tasks and plans: always a word and an icon beside the colour. */
import {
  IconArchive,
  IconBan,
  IconCheck,
  IconCircle,
  IconCircleDashed,
  IconEye,
  IconHandStop,
  IconMailOff,
  IconPencil,
  IconPlayerPause,
  IconPlayerPlay,
  IconProgress,
  IconX,
} from "@tabler/icons-react";
import type { ComponentType } from "react";

import type { PlanState, State } from "../api/schema.gen";
import { useTexts } from "../i18n";
import { Tooltip } from "./fields";
import { texts } from "./texts";

export type AnyState = State | PlanState;
export type Hue = "done" | "work" | "check" | "ready" | "ask" | "fail" | "idle";
type Icon = ComponentType<{ size?: number; stroke?: number; "aria-hidden"?: boolean }>;

const LOOKS: Readonly<Record<AnyState, { hue: Hue; icon: Icon }>> = {
  PENDING: { hue: "idle", icon: IconCircleDashed },
  READY: { hue: "ready", icon: IconCircle },
  IN_PROGRESS: { hue: "work", icon: IconProgress },
  READY_TO_CHECK: { hue: "check", icon: IconEye },
  TO_BE_MODIFY: { hue: "check", icon: IconPencil },
  BLOCKED: { hue: "ask", icon: IconHandStop },
  FAILED: { hue: "fail", icon: IconX },
  DONE: { hue: "done", icon: IconCheck },
  ABANDONED: { hue: "idle", icon: IconBan },
  DEAD_LETTER: { hue: "fail", icon: IconMailOff },
  IN_REVIEW: { hue: "check", icon: IconEye },
  RETURNED: { hue: "ask", icon: IconPencil },
  HELD: { hue: "ask", icon: IconHandStop },
  ACTIVE: { hue: "work", icon: IconPlayerPlay },
  PAUSED: { hue: "ask", icon: IconPlayerPause },
  FINISHED: { hue: "done", icon: IconCheck },
  CANCELLED: { hue: "idle", icon: IconBan },
  ARCHIVED: { hue: "idle", icon: IconArchive },
};

/** The states of tasks, from the end of the work to its beginning. */
export const TASK_STATES: readonly State[] = [
  "DONE",
  "READY_TO_CHECK",
  "TO_BE_MODIFY",
  "IN_PROGRESS",
  "READY",
  "PENDING",
  "BLOCKED",
  "FAILED",
  "DEAD_LETTER",
  "ABANDONED",
];

export function hueOf(state: AnyState): Hue {
  return LOOKS[state].hue;
}

export function StateIcon({ state, size = 14 }: { state: AnyState; size?: number }) {
  const { icon: Icon, hue } = LOOKS[state];
  return (
    <span style={{ color: `var(--state-${hue})`, display: "inline-flex" }}>
      <Icon size={size} stroke={2.2} aria-hidden />
    </span>
  );
}

export function StateBadge({ state, small = false }: { state: AnyState; small?: boolean }) {
  const t = useTexts(texts);
  const { icon: Icon, hue } = LOOKS[state];
  return (
    <span
      data-state={state}
      style={{
        display: "inline-flex",
        alignItems: "center",
        gap: 5,
        whiteSpace: "nowrap",
        padding: small ? "0 7px" : "2px 9px",
        borderRadius: 999,
        fontWeight: 600,
        fontSize: small ? 11 : 12,
        lineHeight: "18px",
        color: `var(--state-${hue})`,
        background: `var(--state-${hue}-soft)`,
      }}
    >
      <Icon size={small ? 11 : 13} stroke={2.4} aria-hidden />
      {t[state]}
    </span>
  );
}

/** How many tasks are in each state, as a bar. */
export function StateBar({
  states,
  height = 8,
}: {
  states: Partial<Record<State, number>>;
  height?: number;
}) {
  const t = useTexts(texts);
  const present = TASK_STATES.filter((state) => (states[state] ?? 0) > 0);
  const words = present.map((state) => `${t[state]} ${states[state]}`).join(" · ");
  return (
    <Tooltip label={words}>
      <div
        role="img"
        aria-label={words}
        style={{
          display: "flex",
          gap: 2,
          height,
          minWidth: 60,
          borderRadius: 99,
          overflow: "hidden",
          background: "var(--surface-2)",
        }}
      >
        {present.map((state) => (
          <div
            key={state}
            style={{
              flex: `${states[state]} 1 0`,
              minWidth: 4,
              background: `var(--state-${hueOf(state)})`,
              opacity: state === "PENDING" || state === "ABANDONED" ? 0.35 : 1,
            }}
          />
        ))}
      </div>
    </Tooltip>
  );
}
