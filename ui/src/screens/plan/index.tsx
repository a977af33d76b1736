import "./plan.css";

import { Group, SegmentedControl, TextInput } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { IconSearch } from "@tabler/icons-react";
import { lazy, Suspense, useEffect, useRef, useState } from "react";
import { Link, useNavigate, useParams } from "react-router";

import { filterOf } from "../../api/filters";
import { useRead } from "../../api/queries";
import type { PlanDetailView, State } from "../../api/schema.gen";
import { useCommands } from "../../app/commands";
import { useLanguage, useTexts } from "../../i18n";
import {
  AnyText,
  Key,
  Loading,
  Screen,
  Shown,
  SplitView,
  StateBadge,
  StateBar,
  StateIcon,
  TASK_STATES,
  texts as kitTexts,
  useShortcuts,
} from "../../kit";
import { Actions } from "./Actions";
import { Board } from "./Board";
import { GraphView } from "./GraphView";
import { type Selection, useSelection, type View, VIEWS } from "./selection";
import { TaskList } from "./TaskList";
import { TaskPanel } from "./TaskPanel";
import { taskPath } from "./tasks";
import { texts } from "./texts";

const Timeline = lazy(() =>
  import("./timeline/Timeline").then(({ Timeline: component }) => ({ default: component })),
);

export default function Plan() {
  const { plan = "" } = useParams();
  const query = useRead("/v1/plans/{plan}", { params: { plan } });
  return <Shown query={query}>{(data) => <PlanScreen plan={data} />}</Shown>;
}

function PlanScreen({ plan }: { plan: PlanDetailView }) {
  const t = useTexts(texts);
  const navigate = useNavigate();
  const selection = useSelection();
  const search = useRef<HTMLInputElement>(null);
  const { task, setTask, setView } = selection;
  useShortcuts([
    { keys: "/", label: t.focusSearch, run: () => search.current?.focus() },
    {
      keys: "Enter",
      label: t.openTask,
      run: () => task !== null && void navigate(taskPath(task)),
    },
    { keys: "Escape", label: t.closePanel, run: () => setTask(null) },
    ...VIEWS.map((view, at) => ({
      keys: String(at + 1),
      label: t.showView(t[view]),
      run: () => setView(view),
    })),
  ]);
  useCommands(VIEWS.map((view) => ({ label: t.showView(t[view]), run: () => setView(view) })));
  return (
    <Screen
      name={plan.title}
      title={<AnyText>{plan.title}</AnyText>}
      about={<About plan={plan} />}
      actions={<Actions plan={plan} />}
    >
      <Notices plan={plan} />
      <StateBar states={plan.states} height={10} />
      <Toolbar plan={plan} selection={selection} field={search} />
      <SplitView
        label={t.task}
        side={task !== null && <TaskPanel task={task} />}
        onClose={() => setTask(null)}
      >
        <Suspense fallback={<Loading />}>
          <Chosen plan={plan} selection={selection} />
        </Suspense>
      </SplitView>
    </Screen>
  );
}

function Chosen({ plan, selection }: { plan: PlanDetailView; selection: Selection }) {
  const views = { graph: GraphView, board: Board, list: TaskList, timeline: Timeline };
  const Shape = views[selection.view];
  return <Shape plan={plan} selection={selection} />;
}

function About({ plan }: { plan: PlanDetailView }) {
  const t = useTexts(texts);
  const { language } = useLanguage();
  const number = new Intl.NumberFormat(language, { notation: "compact" });
  const { tokens, cost } = plan.spent;
  return (
    <span className="about-line">
      <StateBadge state={plan.state} />
      <AnyText oneLine style={{ maxWidth: 260 }}>
        {plan.plan_id}
      </AnyText>
      <span>· {t.tasks(plan.nodes)}</span>
      <span>· {t.revision(plan.revision)}</span>
      {tokens > 0 && (
        <span>
          · {number.format(tokens)} {t.tokens}
        </span>
      )}
      {cost !== null && cost > 0 && <span>· ${cost.toFixed(2)}</span>}
    </span>
  );
}

/** What needs a person: open questions, and a base that has moved. */
function Notices({ plan }: { plan: PlanDetailView }) {
  const t = useTexts(texts);
  const count = plan.open_questions.length;
  const inbox = `/inbox?filter=${encodeURIComponent(filterOf({ plan: plan.plan_id }))}`;
  return (
    <>
      {count > 0 && (
        <div className="notice">
          <StateIcon state="BLOCKED" size={17} />
          <span>{t.questions(count)}</span>
          <Link to={inbox}>{t.answer}</Link>
        </div>
      )}
      {plan.base_moved && (
        <div className="notice">
          <StateIcon state="PAUSED" size={17} />
          <AnyText>{plan.base_moved}</AnyText>
        </div>
      )}
    </>
  );
}

function Toolbar(props: {
  plan: PlanDetailView;
  selection: Selection;
  field: React.RefObject<HTMLInputElement | null>;
}) {
  const { plan, selection, field } = props;
  const t = useTexts(texts);
  const [typed, setTyped] = useState(selection.words);
  const tellLater = useDebouncedCallback(selection.setWords, 200);
  useEffect(() => setTyped(selection.words), [selection.words]);
  return (
    <Group gap="sm" className="toolbar">
      <SegmentedControl
        aria-label={t.view}
        value={selection.view}
        onChange={(view) => selection.setView(view as View)}
        data={VIEWS.map((view) => ({ value: view, label: t[view] }))}
      />
      <TextInput
        ref={field}
        className="toolbar-search"
        leftSection={<IconSearch size={16} />}
        rightSection={<Key>/</Key>}
        placeholder={t.search}
        aria-label={t.search}
        dir="auto"
        value={typed}
        onChange={(event) => {
          setTyped(event.currentTarget.value);
          tellLater(event.currentTarget.value);
        }}
        onKeyDown={(event) => event.key === "Escape" && event.currentTarget.blur()}
      />
      <States plan={plan} chosen={selection.state} choose={selection.setState} />
    </Group>
  );
}

function States(props: {
  plan: PlanDetailView;
  chosen: State | null;
  choose: (state: State | null) => void;
}) {
  const { plan, chosen, choose } = props;
  const t = useTexts(texts);
  const names = useTexts(kitTexts);
  const present = TASK_STATES.filter((state) => (plan.states[state] ?? 0) > 0);
  return (
    <div className="state-chips" role="group" aria-label={t.states}>
      {present.map((state) => (
        <button
          key={state}
          type="button"
          className="state-chip"
          aria-pressed={chosen === state}
          onClick={() => choose(chosen === state ? null : state)}
        >
          <StateIcon state={state} />
          {names[state]} <b>{plan.states[state]}</b>
        </button>
      ))}
    </div>
  );
}
