import { Button, Group, Stack, Text } from "@mantine/core";
import { IconArrowRight } from "@tabler/icons-react";
import { Link } from "react-router";

import { useRead } from "../../api/queries";
import type { AttemptStoryView, TaskDetailView } from "../../api/schema.gen";
import { useTexts } from "../../i18n";
import { AnyText, Dim, Duration, Shown, StateBadge, TimeAgo } from "../../kit";
import { taskPath } from "./tasks";
import { texts } from "./texts";

const TABS = {
  verdict: "verdict",
  messages: "message",
  reviews: "review",
  diff: "diff",
  events: "events",
} as const;

/** What a person wants to know of a task at once, and the ways to the rest. */
export function TaskPanel({ task }: { task: string }) {
  const query = useRead("/v1/tasks/{task}", { params: { task } }, { keepPrevious: true });
  return <Shown query={query}>{(data) => <Summary task={data} />}</Shown>;
}

function Summary({ task }: { task: TaskDetailView }) {
  const t = useTexts(texts);
  const last = task.attempts.at(-1);
  return (
    <Stack gap="md" data-panel={task.task_id}>
      <div>
        <Group gap={8} mb={8}>
          <StateBadge state={task.state} />
          <Dim size="xs">{task.node_type}</Dim>
        </Group>
        <Text fw={650} size="lg" lh={1.3} component="h2" m={0}>
          <AnyText>{task.title}</AnyText>
        </Text>
        <Text size="xs" c="dimmed" component="div" mt={4}>
          <AnyText oneLine>{task.task_id}</AnyText>
        </Text>
      </div>
      <Button
        component={Link}
        to={taskPath(task.task_id)}
        rightSection={<IconArrowRight size={16} />}
        fullWidth
      >
        {t.openTask}
      </Button>
      <Group gap={6}>
        {(Object.keys(TABS) as (keyof typeof TABS)[]).map((tab) => (
          <Button
            key={tab}
            component={Link}
            to={taskPath(task.task_id, tab)}
            variant="default"
            size="compact-xs"
          >
            {t[TABS[tab]]}
          </Button>
        ))}
      </Group>
      {task.waiting && <Part title={t.waitsFor}>{task.waiting}</Part>}
      {!task.waiting && task.waits_for.length > 0 && (
        <Part title={t.waitsFor}>{task.waits_for.slice(0, 5).join("\n")}</Part>
      )}
      {task.lease && (
        <Part title={t.worker}>
          <AnyText>{task.lease.holder}</AnyText> · {t.until} <TimeAgo at={task.lease.until} />
        </Part>
      )}
      {last ? <LastAttempt attempt={last} /> : <Dim>{t.noAttempt}</Dim>}
      {task.goal_statement && <Part title={t.goal}>{task.goal_statement}</Part>}
    </Stack>
  );
}

function LastAttempt({ attempt }: { attempt: AttemptStoryView }) {
  const t = useTexts(texts);
  return (
    <>
      <Part
        title={
          attempt.outcome
            ? `${t.lastVerdict} · ${t.attempt(attempt.attempt)}`
            : t.attempt(attempt.attempt)
        }
      >
        {attempt.outcome && (
          <div style={{ marginBottom: 4 }}>
            <b>{attempt.outcome}</b> <code className="reason">{attempt.reason_code}</code>
          </div>
        )}
        {attempt.messages.slice(0, 4).map((message) => (
          <div key={message}>
            <AnyText>{message}</AnyText>
          </div>
        ))}
        <Text size="xs" c="dimmed" component="div" mt={4}>
          {[attempt.executor, attempt.model].filter(Boolean).join(" · ")}
          {attempt.seconds !== null && (
            <>
              {" · "}
              <Duration seconds={attempt.seconds} />
            </>
          )}
        </Text>
      </Part>
      {attempt.next_action && <Part title={t.nextAction}>{attempt.next_action}</Part>}
      {attempt.failing_tests.length > 0 && (
        <Part title={t.failingTests}>
          {attempt.failing_tests.slice(0, 5).map((test) => (
            <div key={test.test}>
              <code className="reason">{test.test}</code>
            </div>
          ))}
        </Part>
      )}
    </>
  );
}

function Part({ title, children }: { title: string; children: React.ReactNode }) {
  return (
    <section>
      <Text size="xs" fw={650} c="dimmed" component="h3" m={0} mb={3}>
        {title}
      </Text>
      <Text size="sm" component="div" style={{ whiteSpace: "pre-line" }}>
        {typeof children === "string" ? <AnyText>{children}</AnyText> : children}
      </Text>
    </section>
  );
}
