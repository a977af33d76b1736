/** What the plan asks of a task. */
import { Stack, Text } from "@mantine/core";
import type { ReactNode } from "react";

import type { TaskDetailView } from "../../api/schema.gen";
import { useTexts } from "../../i18n";
import { AnyText, Json } from "../../kit";
import { texts } from "./texts";

export function Brief({ task }: { task: TaskDetailView }) {
  const t = useTexts(texts);
  const criteria = listOf(task.acceptance_criteria);
  const hasConstraints = Object.keys(task.constraints).length > 0;
  const isEmpty = !task.goal_statement && criteria.length === 0 && !task.deliverable_spec && !hasConstraints;
  if (isEmpty) return null;
  return (
    <details className="card brief">
      <summary>
        <b>{t.asked}</b>
        {task.goal_statement && <Text span size="sm" c="dimmed"> <AnyText oneLine style={{ maxWidth: "70%" }}>{task.goal_statement}</AnyText></Text>}
      </summary>
      <Stack gap="sm" pt="sm">
        {task.goal_statement && <Part label={t.goal}><Text size="sm" component="div"><AnyText>{task.goal_statement}</AnyText></Text></Part>}
        {criteria.length > 0 && (
          <Part label={t.criteria}>
            <ul className="plain-list">{criteria.map((each, index) => <li key={index}><AnyText>{each}</AnyText></li>)}</ul>
          </Part>
        )}
        {Boolean(task.deliverable_spec) && <Part label={t.deliverable}><Json value={task.deliverable_spec} label={t.deliverable} height={220} /></Part>}
        {hasConstraints && <Part label={t.constraints}><Json value={task.constraints} label={t.constraints} height={260} /></Part>}
      </Stack>
    </details>
  );
}

function Part({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div>
      <Text size="xs" c="dimmed" fw={600} mb={4}>{label}</Text>
      {children}
    </div>
  );
}

function listOf(criteria: unknown): readonly string[] {
  if (criteria === null || criteria === undefined) return [];
  const all: readonly unknown[] = Array.isArray(criteria) ? criteria : [criteria];
  return all.map((each) => (typeof each === "string" ? each : JSON.stringify(each)));
}
