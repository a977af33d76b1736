import { Button, Group, Modal, Stack, Text, Textarea, TextInput } from "@mantine/core";
import { type ReactNode, useEffect, useState } from "react";

import { useAct, useRead } from "../../api/queries";
import type { AmendmentView, PlanDetailView } from "../../api/schema.gen";
import { useTexts } from "../../i18n";
import { AnyText, ErrorPanel, StateBadge, tell } from "../../kit";
import { texts } from "./texts";

/** Changes the document of a plan, after a preview of what would become of its tasks. */
export function AmendDialog(props: { plan: PlanDetailView; opened: boolean; onClose: () => void }) {
  const { plan, opened, onClose } = props;
  const t = useTexts(texts);
  const params = { plan: plan.plan_id };
  const stored = useRead("/v1/plans/{plan}/document", { params }, { enabled: opened });
  const amend = useAct("/v1/plans/{plan}/amend");
  const preview = useAct("/v1/plans/{plan}/amend");
  const [text, setText] = useState<string | null>(null);
  const [note, setNote] = useState("");
  const [base, setBase] = useState(plan.revision);
  useEffect(() => {
    if (!opened) setText(null);
    else if (text === null && stored.data) {
      setText(JSON.stringify(stored.data, null, 2));
      setBase(plan.revision);
    }
  }, [opened, stored.data, text, plan.revision]);

  const sent = {
    params,
    body: text ?? "",
    contentType: "application/json",
    ifMatch: `"revision-${base}"`,
  };
  const confirm = () =>
    amend.mutate(
      { ...sent, query: { note: note.trim() || undefined } },
      {
        onSuccess: ({ revision }) => {
          tell(t.amended(revision));
          onClose();
        },
      },
    );
  const error = amend.error ?? preview.error ?? stored.error;
  return (
    <Modal opened={opened} onClose={onClose} title={t.amendTitle} size="xl">
      <Stack gap="md">
        <Text size="sm" c="dimmed">
          {t.amendAbout}
        </Text>
        <Textarea
          label={t.document}
          value={text ?? ""}
          rows={16}
          spellCheck={false}
          styles={{ input: { fontFamily: "var(--mantine-font-family-monospace)", fontSize: 12.5 } }}
          onChange={(event) => {
            setText(event.currentTarget.value);
            preview.reset();
            amend.reset();
          }}
        />
        <TextInput
          label={t.note}
          value={note}
          dir="auto"
          onChange={(event) => setNote(event.currentTarget.value)}
        />
        {error && <ErrorPanel error={error} />}
        {preview.data && <Difference amendment={preview.data} />}
        <Group justify="flex-end" gap="xs">
          <Button
            variant="default"
            disabled={!text}
            loading={preview.isPending}
            onClick={() => preview.mutate({ ...sent, query: { dry_run: true } })}
          >
            {t.preview}
          </Button>
          <Button disabled={!preview.data} loading={amend.isPending} onClick={confirm}>
            {t.amendNow}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}

/** What an amendment would change, kind by kind. */
function Difference({ amendment }: { amendment: AmendmentView }) {
  const t = useTexts(texts);
  const {
    added,
    removed,
    changed,
    moves,
    links_added,
    links_removed,
    needs_added,
    needs_removed,
    needs_changed,
    fuses,
    handed_back,
  } = amendment;
  const links = links_added.length + links_removed.length;
  const needs = needs_added.length + needs_removed.length + needs_changed.length;
  const all = added.length + removed.length + changed.length + moves.length + links + needs;
  if (all + fuses.length === 0) {
    return (
      <Text size="sm" role="status">
        {t.nothingChanges}
      </Text>
    );
  }
  return (
    <div className="card difference" role="status">
      <Kind title={t.added} count={added.length}>
        {added.map((task) => (
          <Row key={task.task_id} mark="+">
            {task.title}
          </Row>
        ))}
      </Kind>
      <Kind title={t.removed} count={removed.length}>
        {removed.map((task) => (
          <Row key={task.task_id} mark="−">
            {task.title}
          </Row>
        ))}
      </Kind>
      <Kind title={t.changed} count={changed.length}>
        {changed.map((task) => (
          <div key={task.task_id}>
            <Row mark="~">{task.title}</Row>
            {task.fields.map(({ name, before, after }) => (
              <div key={name} className="field-change">
                <code>{name}</code>
                <del>
                  <AnyText>{shortened(before)}</AnyText>
                </del>
                <ins>
                  <AnyText>{shortened(after)}</AnyText>
                </ins>
              </div>
            ))}
          </div>
        ))}
      </Kind>
      <Kind title={t.moves} count={moves.length}>
        {moves.map((move) => (
          <Group key={move.task_id} gap={8}>
            <AnyText>{move.task_id}</AnyText>
            <StateBadge state={move.before} small /> → <StateBadge state={move.after} small />
          </Group>
        ))}
      </Kind>
      <Kind title={t.links} count={links}>
        {links_added.map((link) => (
          <Row key={JSON.stringify(link)} mark="+">
            {`${link.from_task_id} → ${link.to_task_id} (${link.edge_type})`}
          </Row>
        ))}
        {links_removed.map((link) => (
          <Row key={JSON.stringify(link)} mark="−">
            {`${link.from_task_id} → ${link.to_task_id} (${link.edge_type})`}
          </Row>
        ))}
      </Kind>
      <Kind title={t.needs} count={needs}>
        {needs_added.map((need) => (
          <Row key={need} mark="+">
            {need}
          </Row>
        ))}
        {needs_removed.map((need) => (
          <Row key={need} mark="−">
            {need}
          </Row>
        ))}
        {needs_changed.map((need) => (
          <Row key={need.requirement_id} mark="~">
            {need.requirement_id}
          </Row>
        ))}
      </Kind>
      <Kind title={t.fuses} count={fuses.length}>
        {fuses.map(({ name, before, after }) => (
          <Row key={name} mark="~">
            {`${name}: ${shortened(before)} → ${shortened(after)}`}
          </Row>
        ))}
      </Kind>
      <Kind title={t.handedBack} count={handed_back.length}>
        {handed_back.map((task) => (
          <Row key={task} mark="↩">
            {task}
          </Row>
        ))}
      </Kind>
    </div>
  );
}

const LONGEST = 400;

function shortened(value: unknown): string {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}

function Kind({ title, count, children }: { title: string; count: number; children: ReactNode }) {
  if (count === 0) return null;
  return (
    <section>
      <h3 className="card-title" style={{ margin: "0 0 6px" }}>
        {title} <span style={{ color: "var(--text-dim)", fontWeight: 500 }}>{count}</span>
      </h3>
      {children}
    </section>
  );
}

function Row({ mark, children }: { mark: string; children: string }) {
  return (
    <div className="difference-row" data-mark={mark}>
      <b aria-hidden>{mark}</b> <AnyText>{children}</AnyText>
    </div>
  );
}
