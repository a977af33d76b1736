/** The verdict: every check in every attempt, and why the newest attempt ended as it did. */
import { Group, Stack, Text, Title } from "@mantine/core";
import { useState } from "react";

import { useRead } from "../../api/queries";
import type { AttemptStoryView, CheckedView, CheckRowView, MatrixView } from "../../api/schema.gen";
import { useTexts } from "../../i18n";
import { AnyText, Code, Duration, EmptyState, Shown, TimeAgo } from "../../kit";
import { gates } from "./gates";
import type { TabProps } from ".";
import { CheckResult, Outcome } from "./outcomes";
import { texts } from "./texts";

export function Matrix({ task }: TabProps) {
  const t = useTexts(texts);
  const matrix = useRead("/v1/tasks/{task}/matrix", { params: { task: task.task_id } });
  const [chosen, setChosen] = useState<number | null>(null);
  return (
    <Shown query={matrix}>
      {(data) => {
        if (data.attempts.length === 0) return <EmptyState title={t.noAttempts}>{t.noAttemptsAbout}</EmptyState>;
        const newest = data.attempts.at(-1)?.attempt ?? 0;
        const story = task.attempts.find(({ attempt }) => attempt === (chosen ?? newest));
        return (
          <Stack gap="lg">
            <Grid matrix={data} chosen={chosen ?? newest} onChoose={setChosen} />
            {story && <Story story={story} checks={failedIn(data, story.attempt)} />}
          </Stack>
        );
      }}
    </Shown>
  );
}

function Grid({ matrix, chosen, onChoose }: { matrix: MatrixView; chosen: number; onChoose: (attempt: number) => void }) {
  const t = useTexts(texts);
  return (
    <div className="card" style={{ overflowX: "auto" }}>
      <table className="matrix">
        <thead>
          <tr>
            <th scope="col">{t.checks}</th>
            {matrix.attempts.map(({ attempt, outcome }) => (
              <th key={attempt} scope="col" data-chosen={attempt === chosen}>
                <button type="button" className="matrix-head" aria-pressed={attempt === chosen} onClick={() => onChoose(attempt)}>
                  {t.attempt(attempt)}
                  <Outcome outcome={outcome} />
                </button>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{matrix.checks.map((row) => <Row key={row.check} row={row} chosen={chosen} />)}</tbody>
      </table>
    </div>
  );
}

function Row({ row, chosen }: { row: CheckRowView; chosen: number }) {
  const translated = useTexts(gates) as Readonly<Record<string, string>>;
  const question = translated[row.check] ?? row.question;
  return (
    <tr>
      <th scope="row">
        <span className="matrix-check">{row.check.replaceAll("_", " ")}</span>
        <Text size="xs" c="dimmed" fw={400}>{question}</Text>
      </th>
      {row.attempts.map((cell) => (
        <td key={cell.attempt} data-chosen={cell.attempt === chosen} title={titleOf(cell)}>
          <CheckResult result={cell.result} />
        </td>
      ))}
    </tr>
  );
}

function titleOf({ reason_code, messages }: CheckedView): string {
  return [reason_code, ...messages].filter(Boolean).join("\n");
}

function failedIn(matrix: MatrixView, attempt: number): readonly (CheckedView & { check: string })[] {
  return matrix.checks.flatMap(({ check, attempts }) =>
    attempts.filter((cell) => cell.attempt === attempt && cell.result === "failed").map((cell) => ({ ...cell, check })),
  );
}

function Story({ story, checks }: { story: AttemptStoryView; checks: readonly (CheckedView & { check: string })[] }) {
  const t = useTexts(texts);
  return (
    <section className="card" style={{ padding: 20 }} aria-label={t.attempt(story.attempt)}>
      <Group justify="space-between" gap="sm" mb="sm">
        <Group gap="sm">
          <Title order={2} fz={16}>{t.attempt(story.attempt)}</Title>
          <Outcome outcome={story.outcome} />
          {story.reason_code && <code className="quiet-code">{story.reason_code}</code>}
        </Group>
        <Text size="xs" c="dimmed" component="div">
          <AnyText>{[story.executor ?? story.holder, story.model].filter(Boolean).join(" · ")}</AnyText>
          {" · "}<TimeAgo at={story.began_at} />
          {story.seconds !== null && <> · <Duration seconds={story.seconds} /></>}
        </Text>
      </Group>
      {story.reason && <Text size="sm" component="div" mb="xs"><AnyText>{story.reason}</AnyText></Text>}
      {story.next_action && <Text size="sm" c="dimmed" mb="xs">{t.next}: {story.next_action}</Text>}
      {checks.map(({ check, reason_code, messages }) => (
        <div key={check} className="failed-check">
          <Group gap={8}><CheckResult result="failed" /><b>{check.replaceAll("_", " ")}</b>{reason_code && <code className="quiet-code">{reason_code}</code>}</Group>
          <ul className="plain-list">{messages.map((message, index) => <li key={index}><AnyText>{message}</AnyText></li>)}</ul>
        </div>
      ))}
      <FailingTests story={story} />
    </section>
  );
}

function FailingTests({ story }: { story: AttemptStoryView }) {
  const t = useTexts(texts);
  if (story.failing_tests.length === 0) return null;
  return (
    <Stack gap="xs" mt="md">
      <Text fw={600} size="sm">{t.failingTests}</Text>
      {story.failing_tests.map(({ test, lines }) => (
        <details key={test}>
          <summary className="quiet-summary" style={{ color: "var(--state-fail)" }}><AnyText>{test}</AnyText></summary>
          <Code text={lines.join("\n")} label={test} height={260} />
        </details>
      ))}
      {story.more_failing_tests > 0 && <Text size="sm" c="dimmed">{t.moreTests(story.more_failing_tests)}</Text>}
    </Stack>
  );
}
