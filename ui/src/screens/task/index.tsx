/** A task: where it stands and why, attempt by attempt. */
import { Alert, Anchor, Button, Group, Stack, Tabs, Text } from "@mantine/core";
import { IconHandStop } from "@tabler/icons-react";
import { type ComponentType, lazy, Suspense } from "react";
import { Link, useParams } from "react-router";

import { useRead } from "../../api/queries";
import type { TaskDetailView } from "../../api/schema.gen";
import { useMay } from "../../app/session";
import { useTexts } from "../../i18n";
import { AnyText, Loading, Screen, Select, Shown, StateBadge, TimeAgo, useParam, useShortcuts } from "../../kit";
import { TaskActs } from "./Acts";
import { Brief } from "./Brief";
import { Events } from "./Events";
import { Matrix } from "./Matrix";
import { texts } from "./texts";
import { Usage } from "./Usage";

export interface TabProps {
  readonly task: TaskDetailView;
  readonly attempt: number | null; // null: the newest
}

const Messages = lazy(() => import("./Messages"));
const Reviews = lazy(() => import("./Reviews"));
const Tests = lazy(() => import("./Tests"));
const Diff = lazy(() => import("./Diff"));
const Log = lazy(() => import("./Log"));
const Compare = lazy(() => import("./Compare"));

const TABS = {
  verdict: Matrix,
  messages: Messages,
  reviews: Reviews,
  tests: Tests,
  diff: Diff,
  log: Log,
  events: Events,
  usage: Usage,
  compare: Compare,
} satisfies Record<string, ComponentType<TabProps>>;
type Tab = keyof typeof TABS;
const NAMES = Object.keys(TABS) as Tab[];
const OF_AN_ATTEMPT: readonly Tab[] = ["messages", "tests", "diff", "log"];
const FOR_READERS: readonly Tab[] = ["messages"];

export default function Task() {
  const { task = "" } = useParams();
  const query = useRead("/v1/tasks/{task}", { params: { task } });
  return <Shown query={query}>{(data) => <TaskPage task={data} />}</Shown>;
}

function TaskPage({ task }: { task: TaskDetailView }) {
  const t = useTexts(texts);
  const mayRead = useMay("read");
  const [written, setTab] = useParam("tab", "verdict");
  const [chosen, setAttempt] = useParam("attempt");
  const names = NAMES.filter((name) => mayRead || !FOR_READERS.includes(name));
  const tab = names.find((name) => name === written) ?? "verdict";
  const attempt = task.attempts.find((each) => String(each.attempt) === chosen)?.attempt ?? null;
  const step = (by: number) => setTab(names[(names.indexOf(tab) + by + names.length) % names.length] ?? "verdict");
  useShortcuts([
    { keys: "]", label: t.nextTab, run: () => step(1) },
    { keys: "[", label: t.previousTab, run: () => step(-1) },
  ]);
  const Shown = TABS[tab];
  return (
    <Screen
      name={task.title}
      title={<AnyText>{task.title}</AnyText>}
      about={<About task={task} />}
      actions={<TaskActs task={task} />}
    >
      <Waiting task={task} />
      <Brief task={task} />
      <Tabs value={tab} onChange={(value) => setTab(value ?? "verdict")} keepMounted={false}>
        <Group justify="space-between" align="flex-end" gap="sm" wrap="wrap-reverse">
          <Tabs.List aria-label={t.parts} style={{ flexWrap: "nowrap", overflowX: "auto" }}>
            {names.map((name) => <Tabs.Tab key={name} value={name}>{t[name]}</Tabs.Tab>)}
          </Tabs.List>
          {OF_AN_ATTEMPT.includes(tab) && task.attempts.length > 1 && (
            <AttemptSelect task={task} attempt={attempt} onChange={setAttempt} />
          )}
        </Group>
        <Tabs.Panel value={tab} pt="md">
          <Suspense fallback={<Loading />}><Shown key={`${tab} ${attempt}`} task={task} attempt={attempt} /></Suspense>
        </Tabs.Panel>
      </Tabs>
    </Screen>
  );
}

export function AttemptSelect({ task, attempt, onChange, label }: {
  task: TaskDetailView; attempt: number | null; onChange: (attempt: string) => void; label?: string;
}) {
  const t = useTexts(texts);
  const last = task.attempts.at(-1)?.attempt;
  const data = task.attempts.map((each) => ({
    value: String(each.attempt),
    label: each.attempt === last ? `${t.attempt(each.attempt)} (${t.newest})` : t.attempt(each.attempt),
  }));
  return (
    <Select
      size="xs"
      w={190}
      aria-label={label ?? t.whichAttempt}
      data={data}
      value={String(attempt ?? last ?? "")}
      onChange={(value) => onChange(value)}
    />
  );
}

function About({ task }: { task: TaskDetailView }) {
  const t = useTexts(texts);
  return (
    <Group gap={10}>
      <StateBadge state={task.state} />
      <Anchor component={Link} size="sm" to={`/plans/${encodeURIComponent(task.plan_id)}?task=${encodeURIComponent(task.task_id)}`}>
        <AnyText oneLine style={{ maxWidth: 360 }}>{task.plan_title}</AnyText>
      </Anchor>
      <span>{t.owner}: <AnyText>{task.owner_agent_id}</AnyText></span>
      {task.attempt_count > 0 && <span>{t.attempts}: {task.attempt_count}</span>}
      {task.tags.map((tag) => <span key={tag} className="pill" style={{ background: "var(--surface-2)" }}><AnyText>{tag}</AnyText></span>)}
    </Group>
  );
}

function Waiting({ task }: { task: TaskDetailView }) {
  const t = useTexts(texts);
  const open = task.questions.filter((question) => question.answered_at === null);
  if (open.length === 0 && task.waits_for.length === 0 && !task.lease) return null;
  return (
    <Stack gap="xs">
      {open.map((question) => (
        <Alert key={question.question_id} className="asks" color="yellow" variant="light" icon={<IconHandStop size={18} />} title={t.question}>
          <Group justify="space-between" gap="sm">
            <Text size="sm" component="div" style={{ flex: "1 1 300px" }}><AnyText>{question.reason}</AnyText></Text>
            <Button component={Link} size="compact-sm" to={`/inbox?selected=${question.number ?? encodeURIComponent(question.question_id)}`}>{t.answerIt}</Button>
          </Group>
        </Alert>
      ))}
      {task.waits_for.length > 0 && (
        <Text size="sm" c="dimmed">{t.waitsFor}: <AnyText>{task.waits_for.join(", ")}</AnyText></Text>
      )}
      {task.lease && (
        <Text size="sm" c="dimmed">{t.heldBy} <AnyText>{task.lease.holder}</AnyText> · <TimeAgo at={task.lease.until} /></Text>
      )}
    </Stack>
  );
}
