/** What a person can do with a task: try it again, or cancel it. */
import { Button, Group, Modal, Stack, Text, Textarea } from "@mantine/core";
import { IconBan, IconRefresh } from "@tabler/icons-react";
import { type FormEvent, useState } from "react";

import { useAct } from "../../api/queries";
import type { State, TaskDetailView } from "../../api/schema.gen";
import { useCommands } from "../../app/commands";
import { useMay } from "../../app/session";
import { useTexts } from "../../i18n";
import { ErrorPanel, tell } from "../../kit";
import { texts } from "./texts";

type Act = "retry" | "cancelTask";
const RETRIED: readonly State[] = ["FAILED", "BLOCKED"];
const OVER: readonly State[] = ["DONE", "ABANDONED", "DEAD_LETTER"];

export function TaskActs({ task }: { task: TaskDetailView }) {
  const t = useTexts(texts);
  const mayDecide = useMay("decide");
  const [act, setAct] = useState<Act | null>(null);
  const mayRetry = mayDecide && RETRIED.includes(task.state);
  const mayCancel = mayDecide && !OVER.includes(task.state);
  useCommands([
    ...(mayRetry ? [{ label: t.retry, run: () => setAct("retry") }] : []),
    ...(mayCancel ? [{ label: t.cancelTask, run: () => setAct("cancelTask") }] : []),
  ]);
  return (
    <>
      {mayRetry && <Button leftSection={<IconRefresh size={15} aria-hidden />} onClick={() => setAct("retry")}>{t.retry}</Button>}
      {mayCancel && <Button variant="default" leftSection={<IconBan size={15} aria-hidden />} onClick={() => setAct("cancelTask")}>{t.cancelTask}</Button>}
      <Modal opened={act !== null} onClose={() => setAct(null)} title={act ? t[act] : ""}>
        {act && <ActForm task={task} act={act} onClose={() => setAct(null)} />}
      </Modal>
    </>
  );
}

function ActForm({ task, act, onClose }: { task: TaskDetailView; act: Act; onClose: () => void }) {
  const t = useTexts(texts);
  const [reason, setReason] = useState("");
  const retry = useAct("/v1/tasks/{task}/retry");
  const cancel = useAct("/v1/tasks/{task}/cancel");
  const mutation = act === "retry" ? retry : cancel;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const options = { params: { task: task.task_id }, body: { reason: reason.trim() || null } };
    const onSuccess = () => {
      tell(t.done);
      onClose();
    };
    if (act === "retry") retry.mutate(options, { onSuccess });
    else cancel.mutate(options, { onSuccess });
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="md">
        <Text size="sm" c="dimmed">{act === "retry" ? t.retryAbout : t.cancelAbout}</Text>
        <Textarea label={t.reason} autosize minRows={2} dir="auto" data-autofocus value={reason} onChange={(event) => setReason(event.currentTarget.value)} />
        {mutation.error && <ErrorPanel error={mutation.error} />}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>{t.back}</Button>
          <Button type="submit" color={act === "retry" ? undefined : "red"} loading={mutation.isPending}>{t[act]}</Button>
        </Group>
      </Stack>
    </form>
  );
}
