/** The messages about a task: as they came, normalised, and what was wrong with them. */
import { Anchor, Group, SegmentedControl, Stack, Text } from "@mantine/core";
import { useState } from "react";

import { urlOf } from "../../api/client";
import { useRead } from "../../api/queries";
import type { MessageView } from "../../api/schema.gen";
import { useTexts } from "../../i18n";
import { AnyText, Code, Json, Repairs, Shown, TimeAgo, Violations, Warnings } from "../../kit";
import type { TabProps } from ".";
import { Outcome } from "./outcomes";
import { texts } from "./texts";

export default function Messages({ task, attempt }: TabProps) {
  const t = useTexts(texts);
  const query = attempt === null ? {} : { attempt };
  const messages = useRead("/v1/tasks/{task}/messages", { params: { task: task.task_id }, query });
  return (
    <Shown query={messages}>
      {({ items, left_out }) => (
        <Stack gap="md">
          {items.length === 0 && <Text c="dimmed">{t.noMessages}</Text>}
          {left_out > 0 && <Text size="sm" c="dimmed">{t.leftOut(left_out)}</Text>}
          {items.toReversed().map((message) => <Message key={message.message_id} taskId={task.task_id} message={message} />)}
        </Stack>
      )}
    </Shown>
  );
}

function Message({ taskId, message }: { taskId: string; message: MessageView }) {
  const t = useTexts(texts);
  const [shown, setShown] = useState("raw");
  const words: Readonly<Record<string, string>> = { accepted: t.accepted, rejected: t.rejected, refused: t.refused };
  const address = urlOf("/v1/tasks/{task}/messages/raw", { task: taskId }, { message: message.message_id });
  return (
    <article className="card" style={{ padding: 16 }} aria-label={`${message.kind} ${message.attempt}`}>
      <Group justify="space-between" gap="sm" mb="sm">
        <Group gap="sm">
          <Text fw={600} size="sm">{t.attempt(message.attempt)}</Text>
          <span className="pill" style={{ background: "var(--surface-2)" }}>{message.kind}</span>
          <Text size="sm">{words[message.status] ?? message.status}</Text>
          {message.outcome && <Outcome outcome={message.outcome} />}
          {message.reason_code && <code className="quiet-code">{message.reason_code}</code>}
        </Group>
        <Text size="xs" c="dimmed" component="div">{message.contract} · <TimeAgo at={message.at} /></Text>
      </Group>
      {message.why_refused && <Text size="sm" mb="sm"><AnyText>{message.why_refused}</AnyText></Text>}
      <Group gap="sm" mb="xs">
        <SegmentedControl
          size="xs"
          aria-label={t.messages}
          value={shown}
          onChange={setShown}
          data={[{ value: "raw", label: t.raw }, { value: "value", label: t.normalised }]}
        />
        {message.is_cut && <Anchor size="sm" href={address} download>{t.download}</Anchor>}
      </Group>
      {shown === "raw" && <Code text={message.raw} label={t.raw} numbers />}
      {shown === "value" && (message.value === null
        ? <Text size="sm" c="dimmed">{t.large}</Text>
        : <Json value={message.value} label={t.normalised} numbers />)}
      <Repairs items={message.repairs} />
      <Violations items={message.violations} total={message.total_violations} />
      <Warnings items={message.warnings} />
    </article>
  );
}
