import { ActionIcon, Button, Group, Modal, Stack, Text, Textarea } from "@mantine/core";
import {
  IconArchive,
  IconArchiveOff,
  IconArrowBackUp,
  IconBan,
  IconCheck,
  IconDots,
  IconDownload,
  IconFileText,
  IconPencil,
  IconPlayerPause,
  IconPlayerPlay,
  IconPlayerStop,
} from "@tabler/icons-react";
import { useState } from "react";

import { urlOf } from "../../api/client";
import { useAct, useRead } from "../../api/queries";
import type { PlanDetailView, PlanState } from "../../api/schema.gen";
import { useCommands } from "../../app/commands";
import { useMay } from "../../app/session";
import { useTexts } from "../../i18n";
import { ErrorPanel, Menu, tell, tellProblem } from "../../kit";
import { AmendDialog } from "./AmendDialog";
import { texts } from "./texts";

type Act = "approve" | "return" | "pause" | "resume" | "amend" | "cancel" | "archive" | "unarchive";

const ACTS: Readonly<Record<PlanState, readonly Act[]>> = {
  IN_REVIEW: ["approve", "return", "amend", "cancel"],
  RETURNED: ["amend", "cancel"],
  HELD: ["approve", "return", "amend", "cancel"],
  ACTIVE: ["pause", "amend", "cancel"],
  PAUSED: ["resume", "amend", "cancel"],
  FINISHED: ["archive"],
  CANCELLED: ["archive"],
  ARCHIVED: ["unarchive"],
};
const ICONS = {
  approve: IconCheck,
  return: IconArrowBackUp,
  pause: IconPlayerPause,
  resume: IconPlayerPlay,
  amend: IconPencil,
  cancel: IconBan,
  archive: IconArchive,
  unarchive: IconArchiveOff,
} as const;
const FIRST: readonly Act[] = ["approve", "return", "resume", "pause"];

export function Actions({ plan }: { plan: PlanDetailView }) {
  const t = useTexts(texts);
  const mayPlan = useMay("plan");
  const [shown, setShown] = useState<Act | null>(null);
  const acts = mayPlan ? ACTS[plan.state] : [];
  const first = acts.filter((act) => FIRST.includes(act));
  const rest = acts.filter((act) => !FIRST.includes(act));
  useCommands(acts.map((act) => ({ label: t[act], run: () => setShown(act) })));
  const params = { plan: plan.plan_id };
  return (
    <>
      <RunButton plan={plan} />
      {first.map((act) => {
        const Icon = ICONS[act];
        return (
          <Button
            key={act}
            variant={act === "approve" || act === "resume" ? "filled" : "default"}
            leftSection={<Icon size={16} />}
            onClick={() => setShown(act)}
          >
            {t[act]}
          </Button>
        );
      })}
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon variant="default" size={36} aria-label={t.more}>
            <IconDots size={17} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {rest.map((act) => {
            const Icon = ICONS[act];
            return (
              <Menu.Item
                key={act}
                leftSection={<Icon size={15} />}
                color={act === "cancel" ? "red" : undefined}
                onClick={() => setShown(act)}
              >
                {t[act]}
              </Menu.Item>
            );
          })}
          {rest.length > 0 && <Menu.Divider />}
          <Menu.Item
            component="a"
            href={urlOf("/v1/plans/{plan}/export", params, undefined)}
            leftSection={<IconDownload size={15} />}
          >
            {t.export}
          </Menu.Item>
          <Menu.Item
            component="a"
            href={urlOf("/v1/plans/{plan}/summary.md", params, undefined)}
            target="_blank"
            leftSection={<IconFileText size={15} />}
          >
            {t.summary}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <AmendDialog plan={plan} opened={shown === "amend"} onClose={() => setShown(null)} />
      {shown !== null && shown !== "amend" && (
        <Decision key={shown} act={shown} plan={plan} onClose={() => setShown(null)} />
      )}
    </>
  );
}

/** Carries the plan out on the server, and stops that. */
function RunButton({ plan }: { plan: PlanDetailView }) {
  const t = useTexts(texts);
  const mayRun = useMay("run");
  const runs = useRead("/v1/runs", {}, { enabled: mayRun });
  const start = useAct("/v1/runs");
  const stop = useAct("/v1/runs/{run}/stop");
  if (!mayRun) return null;
  const run = runs.data?.items.find(
    ({ plan_id, state }) => plan_id === plan.plan_id && ["waiting", "running"].includes(state),
  );
  if (run) {
    return (
      <Button
        variant="default"
        leftSection={<IconPlayerStop size={16} />}
        loading={stop.isPending}
        onClick={() => stop.mutate({ params: { run: run.run_id } }, { onError: tellProblem })}
      >
        {t.stop}
      </Button>
    );
  }
  if (plan.state !== "ACTIVE") return null;
  return (
    <Button
      leftSection={<IconPlayerPlay size={16} />}
      loading={start.isPending}
      onClick={() =>
        start.mutate(
          { body: { plan: plan.plan_id } },
          { onSuccess: () => tell(t.runs_running), onError: tellProblem },
        )
      }
    >
      {t.run}
    </Button>
  );
}

/** Asks before an act: what it leads to, and why it is done. */
function Decision(props: {
  act: Exclude<Act, "amend">;
  plan: PlanDetailView;
  onClose: () => void;
}) {
  const { act, plan, onClose } = props;
  const t = useTexts(texts);
  const [why, setWhy] = useState("");
  const acting = useDecision(act, plan.plan_id);
  const about = { approve: t.approveAbout, pause: t.pauseAbout, cancel: t.cancelAbout }[
    act as "approve"
  ];
  const hasWords = act === "approve" || act === "return" || act === "pause" || act === "cancel";
  const isReturn = act === "return";
  const submit = () =>
    acting.run(why.trim(), () => {
      tell(t.done);
      onClose();
    });
  return (
    <Modal opened onClose={onClose} title={t[act]}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <Stack gap="md">
          {about && <Text size="sm">{about}</Text>}
          {hasWords && (
            <Textarea
              label={isReturn ? t.why : t.whyOptional}
              description={isReturn ? t.reasonsAbout : undefined}
              required={isReturn}
              withAsterisk={false}
              autosize
              minRows={2}
              maxRows={8}
              dir="auto"
              data-autofocus
              value={why}
              onChange={(event) => setWhy(event.currentTarget.value)}
            />
          )}
          {acting.error && <ErrorPanel error={acting.error} />}
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={onClose}>
              {t.keep}
            </Button>
            <Button
              type="submit"
              color={act === "cancel" ? "red" : undefined}
              loading={acting.isPending}
            >
              {t[act]}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

function useDecision(act: Exclude<Act, "amend">, plan: string) {
  const approve = useAct("/v1/plans/{plan}/approve");
  const back = useAct("/v1/plans/{plan}/return");
  const pause = useAct("/v1/plans/{plan}/pause");
  const resume = useAct("/v1/plans/{plan}/resume");
  const cancel = useAct("/v1/plans/{plan}/cancel");
  const archive = useAct("/v1/plans/{plan}/archive");
  const unarchive = useAct("/v1/plans/{plan}/unarchive");
  const all = { approve, return: back, pause, resume, cancel, archive, unarchive };
  const { error, isPending } = all[act];
  const run = (why: string, onSuccess: () => void) => {
    const params = { plan };
    const reason = why ? { reason: why } : {};
    const reasons = why.split("\n").filter((line) => line.trim());
    switch (act) {
      case "approve":
        return approve.mutate({ params, body: why ? { note: why } : {} }, { onSuccess });
      case "return":
        return back.mutate({ params, body: { reasons } }, { onSuccess });
      case "pause":
        return pause.mutate({ params, body: reason }, { onSuccess });
      case "cancel":
        return cancel.mutate({ params, body: reason }, { onSuccess });
      default:
        return all[act].mutate({ params } as never, { onSuccess });
    }
  };
  return { error, isPending, run };
}
