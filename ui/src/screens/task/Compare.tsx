/** Two attempts side by side: how they ended, which checks differ, what they handed in. */
import { Group, SimpleGrid, Stack, Text } from "@mantine/core";

import { useRead } from "../../api/queries";
import type { AttemptStoryView, CheckRowView, MessageView } from "../../api/schema.gen";
import { useTexts } from "../../i18n";
import { AnyText, Shown, useParam } from "../../kit";
import { AttemptSelect, type TabProps } from ".";
import { LineDiff } from "./LineDiff";
import { CheckResult, Outcome } from "./outcomes";
import { texts } from "./texts";

export default function Compare({ task }: TabProps) {
  const t = useTexts(texts);
  const numbers = task.attempts.map(({ attempt }) => attempt);
  const [left, setLeft] = useParam("left", String(numbers.at(-2) ?? ""));
  const [right, setRight] = useParam("right", String(numbers.at(-1) ?? ""));
  const before = task.attempts.find(({ attempt }) => String(attempt) === left);
  const after = task.attempts.find(({ attempt }) => String(attempt) === right);
  if (numbers.length < 2 || !before || !after) return <Text c="dimmed">{t.compareNeeds}</Text>;
  return (
    <Stack gap="lg">
      <Group gap="sm">
        <AttemptSelect task={task} attempt={before.attempt} onChange={setLeft} label={t.before} />
        <Text size="sm" c="dimmed">{t.with}</Text>
        <AttemptSelect task={task} attempt={after.attempt} onChange={setRight} label={t.after} />
      </Group>
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        <Side story={before} />
        <Side story={after} />
      </SimpleGrid>
      <Checks taskId={task.task_id} before={before.attempt} after={after.attempt} />
      <MessagesOf taskId={task.task_id} before={before.attempt} after={after.attempt} />
    </Stack>
  );
}

function Side({ story }: { story: AttemptStoryView }) {
  const t = useTexts(texts);
  return (
    <section className="card" style={{ padding: 16 }} aria-label={t.attempt(story.attempt)}>
      <Group gap="sm" mb="xs">
        <Text fw={600}>{t.attempt(story.attempt)}</Text>
        <Outcome outcome={story.outcome} />
        {story.reason_code && <code className="quiet-code">{story.reason_code}</code>}
      </Group>
      <ul className="plain-list">{story.messages.map((message, index) => <li key={index}><AnyText>{message}</AnyText></li>)}</ul>
      <Text size="xs" c="dimmed"><AnyText>{[story.executor ?? story.holder, story.model].filter(Boolean).join(" · ")}</AnyText></Text>
    </section>
  );
}

function Checks({ taskId, before, after }: { taskId: string; before: number; after: number }) {
  const t = useTexts(texts);
  const matrix = useRead("/v1/tasks/{task}/matrix", { params: { task: taskId } });
  const resultIn = (row: CheckRowView, attempt: number) => row.attempts.find((cell) => cell.attempt === attempt)?.result ?? "unknown";
  return (
    <Shown query={matrix}>
      {({ checks }) => {
        const differing = checks.filter((row) => resultIn(row, before) !== resultIn(row, after));
        return (
          <section>
            <Text fw={600} size="sm" mb="xs">{t.changedChecks}</Text>
            {differing.length === 0 && <Text size="sm" c="dimmed">{t.sameChecks}</Text>}
            {differing.map((row) => (
              <Group key={row.check} gap="sm" mb={6}>
                <CheckResult result={resultIn(row, before)} /> → <CheckResult result={resultIn(row, after)} />
                <Text size="sm">{row.check.replaceAll("_", " ")}</Text>
              </Group>
            ))}
          </section>
        );
      }}
    </Shown>
  );
}

function MessagesOf({ taskId, before, after }: { taskId: string; before: number; after: number }) {
  const t = useTexts(texts);
  const first = useRead("/v1/tasks/{task}/messages", { params: { task: taskId }, query: { attempt: before } });
  const second = useRead("/v1/tasks/{task}/messages", { params: { task: taskId }, query: { attempt: after } });
  return (
    <Shown query={first}>
      {(old) => (
        <Shown query={second}>
          {(new_) => {
            const left = readable(old.items.at(-1));
            const right = readable(new_.items.at(-1));
            return (
              <section>
                <Text fw={600} size="sm" mb="xs">{t.messageDiff}</Text>
                {left === right ? <Text size="sm" c="dimmed">{t.sameMessage}</Text> : <LineDiff before={left} after={right} label={t.messageDiff} />}
              </section>
            );
          }}
        </Shown>
      )}
    </Shown>
  );
}

function readable(message: MessageView | undefined): string {
  if (!message) return "";
  return message.value === null ? message.raw : JSON.stringify(message.value, null, 2);
}
