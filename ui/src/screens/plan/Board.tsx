import { Button } from "@mantine/core";

import type { PlanDetailView, State, TaskEntryView } from "../../api/schema.gen";
import { useTexts } from "../../i18n";
import { AnyText, StateIcon, texts as kitTexts, TimeAgo } from "../../kit";
import type { Selection } from "./selection";
import { useTasks } from "./tasks";
import { texts } from "./texts";

/** The columns: what is to come, what is being done, what is done or stuck. */
const COLUMNS: readonly State[] = [
  "PENDING",
  "READY",
  "IN_PROGRESS",
  "READY_TO_CHECK",
  "TO_BE_MODIFY",
  "BLOCKED",
  "FAILED",
  "DEAD_LETTER",
  "DONE",
  "ABANDONED",
];

export function Board({ plan, selection }: { plan: PlanDetailView; selection: Selection }) {
  const wanted = selection.state === null ? COLUMNS : [selection.state];
  const shown = wanted.filter((state) => (plan.states[state] ?? 0) > 0);
  return (
    <div className="board">
      {shown.map((state) => (
        <Column key={state} state={state} plan={plan} selection={selection} />
      ))}
    </div>
  );
}

function Column(props: { state: State; plan: PlanDetailView; selection: Selection }) {
  const { state, plan, selection } = props;
  const t = useTexts(texts);
  const names = useTexts(kitTexts);
  const tasks = useTasks(plan.plan_id, state, selection.words);
  const shown = selection.words ? tasks.items.length : (plan.states[state] ?? 0);
  return (
    <section className="board-column" aria-label={names[state]}>
      <h2 className="board-title">
        <StateIcon state={state} />
        {names[state]}
        <span style={{ color: "var(--text-dim)", fontWeight: 500 }}>{shown}</span>
      </h2>
      <ul className="bare-list" style={{ gap: 8 }}>
        {tasks.items.map((task) => (
          <Card
            key={task.task_id}
            task={task}
            isSelected={task.task_id === selection.task}
            onSelect={() => selection.setTask(task.task_id)}
          />
        ))}
      </ul>
      {tasks.hasMore && (
        <Button
          variant="subtle"
          size="compact-sm"
          loading={tasks.isFetchingNextPage}
          onClick={() => void tasks.more()}
        >
          {t.showMore}
        </Button>
      )}
    </section>
  );
}

function Card(props: { task: TaskEntryView; isSelected: boolean; onSelect: () => void }) {
  const { task, isSelected, onSelect } = props;
  const t = useTexts(texts);
  return (
    <li>
      <button
        type="button"
        className="card board-card"
        data-task={task.task_id}
        data-selected={isSelected}
        aria-pressed={isSelected}
        onClick={onSelect}
      >
        <AnyText style={{ fontWeight: 550, lineHeight: 1.35 }}>{clipped(task.title)}</AnyText>
        {task.waiting && (
          <span className="board-note">
            <AnyText>{clipped(task.waiting)}</AnyText>
          </span>
        )}
        <span className="board-foot">
          <AnyText oneLine style={{ maxWidth: 120 }}>
            {task.lease?.holder ?? task.owner_agent_id}
          </AnyText>
          {task.attempt_count > 0 && <span>· {t.attempt(task.attempt_count)}</span>}
          <span style={{ marginInlineStart: "auto" }}>
            <TimeAgo at={task.updated_at} />
          </span>
        </span>
      </button>
    </li>
  );
}

const LONGEST = 140;

function clipped(text: string): string {
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}
