/** What is requeued, why, and how fast; then what came of it. */
import { Button, Group, Modal, Stack, Text, Textarea } from "@mantine/core";
import { type FormEvent, useEffect, useState } from "react";

import { useAct } from "../../api/queries";
import type { BulkItemView, BulkSkippedView } from "../../api/schema.gen";
import { useTexts } from "../../i18n";
import { AnyText, ErrorPanel, NumberField, tell } from "../../kit";
import { texts } from "./texts";

const LISTED = 6;

export function RequeueDialog({ items, onClose }: { items: readonly BulkItemView[]; onClose: () => void }) {
  const t = useTexts(texts);
  const [reason, setReason] = useState("");
  const [rate, setRate] = useState<number | "">("");
  const [skipped, setSkipped] = useState<readonly BulkSkippedView[]>([]);
  const requeue = useAct("/v1/dead-letters/requeue");
  const isOpen = items.length > 0;
  const { reset } = requeue;
  useEffect(() => {
    if (!isOpen) return;
    setReason("");
    setSkipped([]);
    reset();
  }, [isOpen, reset]);

  const submit = (event: FormEvent) => {
    event.preventDefault();
    const body = { items: [...items], reason, ...(typeof rate === "number" && { per_second: rate }) };
    requeue.mutate({ body }, {
      onSuccess: (result) => {
        tell(t.done(result.done.length));
        if (result.skipped.length === 0) onClose();
        else setSkipped(result.skipped);
      },
    });
  };
  return (
    <Modal opened={isOpen} onClose={onClose} title={t.preview} size="lg">
      {skipped.length > 0 ? <Skipped items={skipped} onClose={onClose} /> : (
        <form onSubmit={submit}>
          <Stack gap="md">
            <Text size="sm" c="dimmed">{t.previewAbout}</Text>
            <Listed items={items} />
            <Textarea label={t.reason} required autosize minRows={2} dir="auto" data-autofocus value={reason} onChange={(event) => setReason(event.currentTarget.value)} />
            <NumberField label={t.rate} step="any" min={0.1} max={1000} value={rate} onChange={setRate} maw={260} />
            {requeue.error && <ErrorPanel error={requeue.error} />}
            <Group justify="flex-end" gap="xs">
              <Button variant="default" onClick={onClose}>{t.cancel}</Button>
              <Button type="submit" loading={requeue.isPending} disabled={reason.trim() === ""}>{t.requeueAll(items.length)}</Button>
            </Group>
          </Stack>
        </form>
      )}
    </Modal>
  );
}

function Listed({ items }: { items: readonly BulkItemView[] }) {
  const t = useTexts(texts);
  const further = items.length - LISTED;
  return (
    <Stack gap={2} component="ul" m={0} pl="lg" fz="sm">
      {items.slice(0, LISTED).map(({ id, title }) => <li key={id}><AnyText oneLine>{title}</AnyText></li>)}
      {further > 0 && <li>{t.more(further)}</li>}
    </Stack>
  );
}

function Skipped({ items, onClose }: { items: readonly BulkSkippedView[]; onClose: () => void }) {
  const t = useTexts(texts);
  return (
    <Stack gap="sm">
      <Text fw={600} size="sm">{t.skipped}</Text>
      {items.map(({ id, title, why }) => (
        <Text key={id} size="sm" component="div"><AnyText>{title}</AnyText>: <AnyText>{why}</AnyText></Text>
      ))}
      <Group justify="flex-end"><Button variant="default" onClick={onClose}>{t.cancel}</Button></Group>
    </Stack>
  );
}
