import { Button, Group } from "@mantine/core";
import { useEffect, useMemo } from "react";

import { useRead } from "../../api/queries";
import type { PlanDetailView } from "../../api/schema.gen";
import { useTexts } from "../../i18n";
import { Shown, useShortcuts } from "../../kit";
import { PlanGraph } from "./graph/PlanGraph";
import { type Box, boxStatesOf, sceneOf } from "./graph/scene";
import { Outline } from "./Outline";
import { DEEPEST, type Selection, useFolds } from "./selection";
import { texts } from "./texts";

export function GraphView({ plan, selection }: { plan: PlanDetailView; selection: Selection }) {
  const folds = useFolds();
  const layout = useRead(
    "/v1/plans/{plan}/layout",
    {
      params: { plan: plan.plan_id },
      query: { fold: folds.fold, unfold: folds.unfold, depth: folds.depth },
    },
    { keepPrevious: true },
  );
  const isOld = layout.data !== undefined && layout.data.revision !== plan.revision;
  const { refetch } = layout;
  useEffect(() => {
    if (isOld) void refetch();
  }, [isOld, refetch]);
  return (
    <Shown query={layout}>
      {(data) => <Drawn layout={data} plan={plan} selection={selection} folds={folds} />}
    </Shown>
  );
}

function Drawn(props: {
  layout: Parameters<typeof sceneOf>[0];
  plan: PlanDetailView;
  selection: Selection;
  folds: ReturnType<typeof useFolds>;
}) {
  const { layout, plan, selection, folds } = props;
  const t = useTexts(texts);
  const states = useRead("/v1/plans/{plan}/states", { params: { plan: plan.plan_id } });
  const scene = useMemo(() => sceneOf(layout), [layout]);
  const boxStates = useMemo(() => boxStatesOf(scene, states.data), [scene, states.data]);
  const { words, state, task, setTask } = selection;
  const fits = useMemo(() => {
    const wanted = words.trim().toLowerCase();
    return (box: Box) => {
      const isNamed =
        !wanted || box.title.toLowerCase().includes(wanted) || box.id === words.trim();
      const folded = boxStates.folded.get(box.at);
      const isThere =
        state === null || boxStates.own[box.at] === state || (folded?.[state] ?? 0) > 0;
      return isNamed && isThere;
    };
  }, [words, state, boxStates]);
  const shown = useMemo(() => scene.order.filter(fits), [scene, fits]);

  const move = (by: number) => {
    const at = shown.findIndex((box) => box.id === task);
    const next = shown[Math.min(shown.length - 1, Math.max(0, at + by))];
    if (next) setTask(next.id);
  };
  useShortcuts([
    { keys: "j", label: t.next, run: () => move(1) },
    { keys: "k", label: t.previous, run: () => move(-1) },
  ]);
  const toggle = (box: Box) => folds.toggle(box.id, box.isFrame);
  const selected = task === null || scene.byId.has(task) ? task : boxOfHidden(layout, task);
  return (
    <div className="graph-columns">
      <div className="outline">
        <Group justify="space-between" gap={4} mb={6} wrap="nowrap">
          <h2 className="card-title" style={{ margin: 0 }}>
            {t.outline}
          </h2>
          <Group gap={0} wrap="nowrap">
            <Button variant="subtle" size="compact-xs" onClick={() => folds.toDepth(1)}>
              {t.foldAll}
            </Button>
            <Button variant="subtle" size="compact-xs" onClick={() => folds.toDepth(DEEPEST)}>
              {t.unfoldAll}
            </Button>
          </Group>
        </Group>
        <Outline
          boxes={shown}
          states={boxStates}
          selected={selected}
          onSelect={setTask}
          onToggle={toggle}
        />
      </div>
      <PlanGraph
        scene={scene}
        states={boxStates}
        selected={selected}
        fits={fits}
        onSelect={setTask}
        onToggle={toggle}
        label={`${plan.title}: ${t.tasks(plan.nodes)}`}
      />
    </div>
  );
}

/** The box of the goal that a task is folded into. */
function boxOfHidden(layout: Parameters<typeof sceneOf>[0], task: string): string | null {
  const place = layout.ids.indexOf(task);
  const box = layout.shown_as[place];
  const goal = box === undefined ? undefined : layout.boxes.task[box];
  return goal === undefined ? null : (layout.ids[goal] ?? null);
}
