/** Accepting that a dead letter will not be done, and what that means for others. */
import { Button, Group, Modal, Radio, Stack, Text, Textarea } from "@mantine/core";
import { type FormEvent, useState } from "react";

import { useAct } from "../../api/queries";
import type { BulkItemView } from "../../api/schema.gen";
import { useTexts } from "../../i18n";
import { AnyText, ErrorPanel, tell } from "../../kit";
import { texts } from "./texts";

type Others = "neither" | "excuse" | "cascade";
const WAYS: readonly Others[] = ["neither", "excuse", "cascade"];

export function DropDialog({ item, onClose }: { item: BulkItemView | null; onClose: () => void }) {
  const t = useTexts(texts);
  return (
    <Modal opened={item !== null} onClose={onClose} title={t.dropTitle}>
      {item && <DropForm item={item} onClose={onClose} />}
    </Modal>
  );
}

function DropForm({ item, onClose }: { item: BulkItemView; onClose: () => void }) {
  const t = useTexts(texts);
  const [others, setOthers] = useState<Others>("neither");
  const [reason, setReason] = useState("");
  const drop = useAct("/v1/dead-letters/{task}/drop");
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const body = { reason, excuse: others === "excuse", cascade: others === "cascade" };
    drop.mutate({ params: { task: item.id }, body }, {
      onSuccess: () => {
        tell(t.dropped);
        onClose();
      },
    });
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="md">
        <Text fw={600}><AnyText>{item.title}</AnyText></Text>
        <Text size="sm" c="dimmed">{t.dropAbout}</Text>
        <Radio.Group label={t.others} value={others} onChange={(value) => setOthers(value as Others)}>
          <Stack gap={6} mt={6}>{WAYS.map((way) => <Radio key={way} value={way} label={t[way]} />)}</Stack>
        </Radio.Group>
        <Textarea label={t.dropReason} required autosize minRows={2} dir="auto" value={reason} onChange={(event) => setReason(event.currentTarget.value)} />
        {drop.error && <ErrorPanel error={drop.error} />}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>{t.cancel}</Button>
          <Button type="submit" color="red" loading={drop.isPending} disabled={reason.trim() === ""}>{t.drop}</Button>
        </Group>
      </Stack>
    </form>
  );
}
