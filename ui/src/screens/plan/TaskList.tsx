import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useRef } from "react";

import type { PlanDetailView } from "../../api/schema.gen";
import { useTexts } from "../../i18n";
import { AnyText, ErrorPanel, Loading, StateBadge, TimeAgo, useShortcuts } from "../../kit";
import { NoTasks } from "./NoTasks";
import type { Selection } from "./selection";
import { useTasks } from "./tasks";
import { texts } from "./texts";

const ROW = 46;
const READ_AHEAD = 20;

export function TaskList({ plan, selection }: { plan: PlanDetailView; selection: Selection }) {
  const t = useTexts(texts);
  const tasks = useTasks(plan.plan_id, selection.state, selection.words);
  const scroller = useRef<HTMLDivElement>(null);
  const rows = useVirtualizer({
    count: tasks.items.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW,
    overscan: 10,
  });
  const lastRow = rows.getVirtualItems().at(-1)?.index ?? 0;
  const { hasMore, isFetchingNextPage, more } = tasks;
  const isNearEnd = lastRow >= tasks.items.length - READ_AHEAD;
  useEffect(() => {
    if (hasMore && isNearEnd && !isFetchingNextPage) void more();
  }, [hasMore, isNearEnd, isFetchingNextPage, more]);

  const at = tasks.items.findIndex((task) => task.task_id === selection.task);
  const move = (by: number) => {
    const next = Math.min(tasks.items.length - 1, Math.max(0, at + by));
    const task = tasks.items[next];
    if (!task) return;
    selection.setTask(task.task_id);
    rows.scrollToIndex(next);
  };
  useShortcuts([
    { keys: "j", label: t.next, run: () => move(1) },
    { keys: "k", label: t.previous, run: () => move(-1) },
  ]);
  if (tasks.error) return <ErrorPanel error={tasks.error} onRetry={() => void tasks.refetch()} />;
  if (tasks.isPending) return <Loading />;
  if (tasks.items.length === 0) return <NoTasks onClear={selection.clear} />;
  return (
    <div ref={scroller} className="card task-table" role="table" aria-label={t.list} tabIndex={0}>
      <div role="row" className="task-row task-head">
        <span role="columnheader">{t.task}</span>
        <span role="columnheader">{t.state}</span>
        <span role="columnheader">{t.agent}</span>
        <span role="columnheader">{t.attempts}</span>
        <span role="columnheader">{t.updated}</span>
      </div>
      <div style={{ height: rows.getTotalSize(), position: "relative" }} role="rowgroup">
        {rows.getVirtualItems().map((row) => {
          const task = tasks.items[row.index];
          if (!task) return null;
          return (
            <div
              key={task.task_id}
              role="row"
              className="task-row row-link"
              data-task={task.task_id}
              data-selected={task.task_id === selection.task}
              style={{
                position: "absolute",
                insetInline: 0,
                transform: `translateY(${row.start}px)`,
              }}
              onClick={() => selection.setTask(task.task_id)}
            >
              <span role="cell" style={{ minWidth: 0, fontWeight: 550 }}>
                <AnyText oneLine>{task.title}</AnyText>
              </span>
              <span role="cell">
                <StateBadge state={task.state} small />
              </span>
              <span role="cell" className="dim-cell">
                <AnyText oneLine>{task.lease?.holder ?? task.owner_agent_id}</AnyText>
              </span>
              <span role="cell" className="dim-cell">
                {task.attempt_count || ""}
              </span>
              <span role="cell" className="dim-cell">
                <TimeAgo at={task.updated_at} />
              </span>
            </div>
          );
        })}
      </div>
    </div>
  );
}
