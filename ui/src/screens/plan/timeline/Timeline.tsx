import { ActionIcon, Group } from "@mantine/core";
import { IconMinus, IconPlus } from "@tabler/icons-react";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useMemo, useRef, useState } from "react";

import { usePages, useRead } from "../../../api/queries";
import type { PlanDetailView, State } from "../../../api/schema.gen";
import { useLanguage, useTexts } from "../../../i18n";
import {
  AnyText,
  durationText,
  EmptyState,
  hueOf,
  Loading,
  StateIcon,
  texts as kitTexts,
  Tooltip,
} from "../../../kit";
import { NoTasks } from "../NoTasks";
import type { Selection } from "../selection";
import { texts } from "../texts";
import { axisOf, historyOf, type Piece, placeOf, type Stretch } from "./history";

const ROW = 34;
const MOST_EVENTS = 50_000;
const WIDEST = 64;

interface Row {
  readonly task: string;
  readonly title: string;
  readonly state: State | undefined;
  readonly stretches: readonly Stretch[];
}

export function Timeline({ plan, selection }: { plan: PlanDetailView; selection: Selection }) {
  const t = useTexts(texts);
  const params = { plan: plan.plan_id };
  const events = usePages("/v1/plans/{plan}/events", { params, query: { limit: 1000 } });
  const layout = useRead("/v1/plans/{plan}/layout", { params, query: { depth: 1000 } });
  const states = useRead("/v1/plans/{plan}/states", { params });
  const { hasMore, isFetchingNextPage, more, items } = events;
  useEffect(() => {
    if (hasMore && !isFetchingNextPage && items.length < MOST_EVENTS) void more();
  }, [hasMore, isFetchingNextPage, more, items.length]);

  const now = Date.now();
  const history = useMemo(
    () => historyOf(items, now),
    // the present moves with the events
    // eslint-disable-next-line react-hooks/exhaustive-deps
    [items],
  );
  const axis = useMemo(() => axisOf(history, Date.now()), [history]);
  const rows = useMemo(() => {
    const titles = new Map<string, string>();
    layout.data?.boxes.task.forEach((task, at) => {
      titles.set(layout.data?.ids[task] ?? "", layout.data?.boxes.title[at] ?? "");
    });
    const place = new Map(layout.data?.ids.map((id, at) => [id, at]));
    return [...history.rows].map(([task, stretches]): Row => {
      const state = states.data?.names[states.data.states[place.get(task) ?? -1] ?? -1];
      return {
        task,
        title: titles.get(task) ?? task,
        state: state as State | undefined,
        stretches,
      };
    });
  }, [history, layout.data, states.data]);

  if (events.isPending || layout.isPending) return <Loading />;
  if (history.rows.size === 0) {
    return (
      <EmptyState title={t.nothingHappened} command="accordance run">
        {t.runIt}
      </EmptyState>
    );
  }
  const words = selection.words.trim().toLowerCase();
  const shown = rows.filter(
    ({ title, state }) =>
      (!words || title.toLowerCase().includes(words)) &&
      (selection.state === null || selection.state === state),
  );
  if (shown.length === 0) return <NoTasks onClear={selection.clear} />;
  return <Rows rows={shown} axis={axis} selection={selection} />;
}

function Rows(props: { rows: readonly Row[]; axis: readonly Piece[]; selection: Selection }) {
  const { rows, axis, selection } = props;
  const t = useTexts(texts);
  const [zoom, setZoom] = useState(1);
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW,
    overscan: 8,
  });
  return (
    <div style={{ display: "grid", gap: 8 }}>
      <Group justify="space-between">
        <Group gap={16}>
          <Legend state="IN_PROGRESS" words={t.inWork} />
          <Legend state="READY_TO_CHECK" words={t.inCheck} />
        </Group>
        <Group gap={4}>
          <Tooltip label={t.zoomOut}>
            <ActionIcon
              variant="default"
              aria-label={t.zoomOut}
              disabled={zoom <= 1}
              onClick={() => setZoom(Math.max(1, zoom / 2))}
            >
              <IconMinus size={16} />
            </ActionIcon>
          </Tooltip>
          <Tooltip label={t.zoomIn}>
            <ActionIcon
              variant="default"
              aria-label={t.zoomIn}
              disabled={zoom >= WIDEST}
              onClick={() => setZoom(zoom * 2)}
            >
              <IconPlus size={16} />
            </ActionIcon>
          </Tooltip>
        </Group>
      </Group>
      <div
        ref={scroller}
        className="card timeline"
        role="list"
        aria-label={t.timeline}
        tabIndex={0}
      >
        <div style={{ width: `${100 * zoom}%`, minWidth: "100%", position: "relative" }}>
          <Axis axis={axis} />
          <div style={{ height: virtual.getTotalSize(), position: "relative" }}>
            {virtual.getVirtualItems().map((item) => {
              const row = rows[item.index];
              if (!row) return null;
              return (
                <div
                  key={row.task}
                  role="listitem"
                  className="timeline-row row-link"
                  data-task={row.task}
                  data-selected={row.task === selection.task}
                  style={{ transform: `translateY(${item.start}px)`, height: ROW }}
                  onClick={() => selection.setTask(row.task)}
                >
                  <span className="timeline-name">
                    {row.state && <StateIcon state={row.state} />}
                    <AnyText oneLine>{row.title}</AnyText>
                  </span>
                  <div className="timeline-track">
                    {row.stretches.map((stretch) => (
                      <Bar key={stretch.from} stretch={stretch} axis={axis} />
                    ))}
                  </div>
                </div>
              );
            })}
          </div>
        </div>
      </div>
    </div>
  );
}

function Legend({ state, words }: { state: State; words: string }) {
  return (
    <span style={{ display: "inline-flex", alignItems: "center", gap: 6, fontSize: 12 }}>
      <span
        aria-hidden
        style={{
          width: 18,
          height: 8,
          borderRadius: 4,
          background: `var(--state-${hueOf(state)})`,
        }}
      />
      <span style={{ color: "var(--text-dim)" }}>{words}</span>
    </span>
  );
}

function Bar({ stretch, axis }: { stretch: Stretch; axis: readonly Piece[] }) {
  const t = useTexts(texts);
  const names = useTexts(kitTexts);
  const until = stretch.until ?? Date.now();
  const start = placeOf(axis, stretch.from);
  const end = placeOf(axis, until);
  const hasFailed =
    stretch.next !== null && ["FAILED", "BLOCKED", "DEAD_LETTER"].includes(stretch.next);
  const words = [
    t.attempt(stretch.number),
    names[stretch.state],
    durationText((until - stretch.from) / 1000),
    stretch.outcome,
    stretch.reason,
  ];
  return (
    <Tooltip label={words.filter(Boolean).join(" · ")}>
      <span
        className="timeline-bar"
        data-open={stretch.until === null}
        data-failed={hasFailed}
        style={{
          left: `${100 * start}%`,
          width: `max(4px, ${100 * (end - start)}%)`,
          background: `var(--state-${hueOf(stretch.state)})`,
        }}
      />
    </Tooltip>
  );
}

function Axis({ axis }: { axis: readonly Piece[] }) {
  const t = useTexts(texts);
  const { language } = useLanguage();
  const format = new Intl.DateTimeFormat(language, { timeStyle: "medium", hourCycle: "h23" });
  const first = axis[0];
  const last = axis.at(-1);
  return (
    <div className="timeline-axis">
      <div className="timeline-track">
        {first && <time style={{ left: 0 }}>{format.format(first.from)}</time>}
        {last && <time style={{ right: 0 }}>{format.format(last.until)}</time>}
        {axis
          .filter((piece) => piece.isPause)
          .map((piece) => {
            const length = durationText((piece.until - piece.from) / 1000);
            return (
              <span
                key={piece.from}
                className="timeline-pause"
                title={t.pauseOf(length)}
                style={{
                  left: `${100 * piece.start}%`,
                  width: `${100 * (piece.end - piece.start)}%`,
                }}
              >
                {length}
              </span>
            );
          })}
      </div>
    </div>
  );
}
