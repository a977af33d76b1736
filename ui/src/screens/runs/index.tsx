import "./runs.css";

import { Button, Chip, Group, Text, TextInput } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { IconFileImport, IconSearch } from "@tabler/icons-react";
import { useEffect, useRef, useState } from "react";
import { Link, useNavigate } from "react-router";

import { filterOf } from "../../api/filters";
import { usePages } from "../../api/queries";
import type { PlanEntryView, PlanState } from "../../api/schema.gen";
import { useMay } from "../../app/session";
import { useTexts } from "../../i18n";
import {
  AnyText,
  EmptyState,
  ErrorPanel,
  Key,
  Loading,
  MoreButton,
  Screen,
  StateBadge,
  StateBar,
  TimeAgo,
  texts as kitTexts,
  useListKeys,
  useParam,
  useShortcuts,
} from "../../kit";
import { ImportDialog } from "./ImportDialog";
import { Numbers } from "./Numbers";
import { texts } from "./texts";

const FIRST_COMMANDS =
  "accordance init --template minimal\naccordance plan import plan.yaml\naccordance run";
const STATES: readonly PlanState[] = [
  "ACTIVE",
  "IN_REVIEW",
  "HELD",
  "PAUSED",
  "FINISHED",
  "CANCELLED",
  "ARCHIVED",
];

export default function Runs() {
  const t = useTexts(texts);
  const navigate = useNavigate();
  const mayPlan = useMay("plan");
  const [state, setState] = useParam("state");
  const [words, setWords] = useParam("q");
  const [isImporting, setImporting] = useState(false);
  const search = useRef<HTMLInputElement>(null);

  const filter = filterOf({ state }, words);
  const plans = usePages("/v1/plans", { query: { filter, limit: 50 } });
  const ids = plans.items.map((plan) => plan.plan_id);
  const { selected } = useListKeys(ids, {
    labels: { next: t.next, previous: t.previous, open: t.open },
    open: (id) => void navigate(planPath(id)),
  });
  useShortcuts([{ keys: "/", label: t.focusSearch, run: () => search.current?.focus() }]);

  const importButton = mayPlan && (
    <Button leftSection={<IconFileImport size={16} />} onClick={() => setImporting(true)}>
      {t.import}
    </Button>
  );
  return (
    <Screen title={t.title} name={t.title} about={t.about} actions={importButton}>
      <div className="runs-columns">
        <div style={{ minWidth: 0, display: "grid", gap: 14, alignContent: "start" }}>
          <SearchField value={words} onChange={setWords} field={search} />
          <StateFilter value={state} onChange={setState} />
          {plans.error && <ErrorPanel error={plans.error} onRetry={() => void plans.refetch()} />}
          {plans.isPending && <Loading />}
          {plans.data && plans.items.length === 0 && (
            <Nothing
              isFiltered={filter !== ""}
              onClear={() => void navigate("/runs", { replace: true })}
            />
          )}
          {plans.items.length > 0 && (
            <ul className="card plan-list" aria-label={t.title}>
              {plans.items.map((plan) => (
                <PlanRow key={plan.plan_id} plan={plan} isSelected={plan.plan_id === selected} />
              ))}
            </ul>
          )}
          <MoreButton list={plans} />
        </div>
        <Numbers />
      </div>
      <ImportDialog opened={isImporting} onClose={() => setImporting(false)} />
    </Screen>
  );
}

function planPath(id: string): string {
  return `/plans/${encodeURIComponent(id)}`;
}

function SearchField(props: {
  value: string;
  onChange: (value: string) => void;
  field: React.RefObject<HTMLInputElement | null>;
}) {
  const t = useTexts(texts);
  const [typed, setTyped] = useState(props.value);
  const tellLater = useDebouncedCallback(props.onChange, 250);
  useEffect(() => setTyped(props.value), [props.value]);
  return (
    <TextInput
      ref={props.field}
      size="md"
      leftSection={<IconSearch size={17} />}
      rightSection={<Key>/</Key>}
      placeholder={t.search}
      aria-label={t.focusSearch}
      value={typed}
      dir="auto"
      onChange={(event) => {
        setTyped(event.currentTarget.value);
        tellLater(event.currentTarget.value);
      }}
      onKeyDown={(event) => event.key === "Escape" && event.currentTarget.blur()}
    />
  );
}

function StateFilter({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  const t = useTexts(texts);
  const states = useTexts(kitTexts);
  return (
    <Chip.Group value={value} onChange={(chosen) => onChange(String(chosen))}>
      <Group gap={6} role="group" aria-label={t.state}>
        <Chip size="xs" value="">
          {t.all}
        </Chip>
        {STATES.map((state) => (
          <Chip key={state} size="xs" value={state}>
            {states[state]}
          </Chip>
        ))}
      </Group>
    </Chip.Group>
  );
}

function Nothing({ isFiltered, onClear }: { isFiltered: boolean; onClear: () => void }) {
  const t = useTexts(texts);
  if (isFiltered) {
    return (
      <EmptyState title={t.noMatch}>
        <Button variant="light" onClick={onClear}>
          {t.clear}
        </Button>
      </EmptyState>
    );
  }
  return (
    <EmptyState title={t.none} command={FIRST_COMMANDS}>
      {t.noneAbout}
    </EmptyState>
  );
}

function PlanRow({ plan, isSelected }: { plan: PlanEntryView; isSelected: boolean }) {
  const t = useTexts(texts);
  const states = plan.states ?? {};
  const done = states["DONE"] ?? 0;
  const dead = states["DEAD_LETTER"] ?? 0;
  const waiting = plan.open_questions ?? 0;
  return (
    <li>
      <Link
        to={planPath(plan.plan_id)}
        className="plain-link row-link plan-row"
        data-item={plan.plan_id}
        data-selected={isSelected}
        aria-current={isSelected || undefined}
      >
        <div style={{ minWidth: 0 }}>
          <Text fw={600} size="md" component="div" lh={1.35}>
            <AnyText oneLine>{plan.title}</AnyText>
          </Text>
          <Text size="xs" c="dimmed" component="div" lh={1.6}>
            <AnyText oneLine style={{ maxWidth: 240 }}>
              {plan.plan_id}
            </AnyText>
            {" · "}
            {t.imported} <TimeAgo at={plan.imported_at} />
          </Text>
        </div>
        <div>
          <StateBar states={states} />
          <Text size="xs" c="dimmed" mt={5} component="div">
            {t.done(done, plan.nodes)}
            {dead > 0 && <Mark hue="fail">{t.dead(dead)}</Mark>}
            {waiting > 0 && <Mark hue="ask">{t.waiting(waiting)}</Mark>}
          </Text>
        </div>
        <div className="plan-state">
          <StateBadge state={plan.state} />
        </div>
      </Link>
    </li>
  );
}

function Mark({ hue, children }: { hue: string; children: string }) {
  return (
    <span style={{ color: `var(--state-${hue})`, fontWeight: 600, whiteSpace: "nowrap" }}>
      {" · "}
      {children}
    </span>
  );
}
