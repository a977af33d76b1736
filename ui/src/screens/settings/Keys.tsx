/** The keys of the project: made, listed, revoked. */
import { Button, Group, Modal, Stack, Text, Textarea, TextInput } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { type FormEvent, useState } from "react";

import { useAct, useRead } from "../../api/queries";
import type { KeyView, KeyWanted } from "../../api/schema.gen";
import { useTexts } from "../../i18n";
import { AnyText, ErrorPanel, NumberField, Select, Shown, tellProblem, TimeAgo } from "../../kit";
import { Section } from ".";
import { Once } from "./Once";
import { texts } from "./texts";

const ROLES = ["viewer", "agent", "operator", "admin"] as const;

export function Keys() {
  const t = useTexts(texts);
  const keys = useRead("/v1/keys", {});
  const [isMaking, setMaking] = useState(false);
  const action = (
    <Button size="compact-md" variant="light" leftSection={<IconPlus size={15} aria-hidden />} onClick={() => setMaking(true)}>{t.makeKey}</Button>
  );
  return (
    <Section title={t.keys} about={t.keysAbout} action={action}>
      <Shown query={keys}>
        {({ items }) =>
          items.length === 0
            ? <Text size="sm" c="dimmed">{t.noKeys}</Text>
            : <div role="list">{items.map((key) => <KeyRow key={key.key_id} entry={key} />)}</div>}
      </Shown>
      <Modal opened={isMaking} onClose={() => setMaking(false)} title={t.makeKey}>
        {isMaking && <KeyForm onClose={() => setMaking(false)} />}
      </Modal>
    </Section>
  );
}

function KeyRow({ entry }: { entry: KeyView }) {
  const t = useTexts(texts);
  const [isSure, setSure] = useState(false);
  const revoke = useAct("/v1/keys/{key_id}/revoke");
  const act = () => {
    if (!isSure) setSure(true);
    else revoke.mutate({ params: { key_id: entry.key_id } }, { onError: tellProblem });
  };
  return (
    <div role="listitem" className="list-row" style={{ paddingInline: 0, opacity: entry.revoked_at ? 0.6 : 1 }}>
      <div style={{ flex: 1, minWidth: 0 }}>
        <Group gap="xs">
          <Text size="sm" fw={600}><AnyText oneLine style={{ maxWidth: 240 }}>{entry.name}</AnyText></Text>
          <span className="pill" style={{ background: "var(--surface-2)", color: "var(--text-dim)" }}>{entry.role}</span>
          <code className="quiet-code">{entry.prefix}…</code>
        </Group>
        <Text size="xs" c="dimmed" mt={2} component="div">
          {t.made} <TimeAgo at={entry.made_at} /> · <AnyText>{entry.made_by}</AnyText>
          {entry.tasks.length > 0 && <> · <AnyText>{entry.tasks.join(", ")}</AnyText></>}
        </Text>
      </div>
      <Text size="xs" c="dimmed" component="span">
        {entry.revoked_at ? t.revoked : entry.expires_at ? <>{t.until} <TimeAgo at={entry.expires_at} /></> : t.forEver}
      </Text>
      {!entry.revoked_at && (
        <Button size="compact-xs" variant={isSure ? "filled" : "subtle"} color="red" loading={revoke.isPending} aria-label={`${t.revoke}: ${entry.name}`} onClick={act} onBlur={() => setSure(false)}>
          {isSure ? t.sureRevoke : t.revoke}
        </Button>
      )}
    </div>
  );
}

function KeyForm({ onClose }: { onClose: () => void }) {
  const t = useTexts(texts);
  const [name, setName] = useState("");
  const [role, setRole] = useState<(typeof ROLES)[number]>("operator");
  const [days, setDays] = useState<number | "">("");
  const [tasks, setTasks] = useState("");
  const make = useAct("/v1/keys");
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const bound = tasks.split("\n").map((line) => line.trim()).filter(Boolean);
    const body: KeyWanted = { name, role, tasks: bound, ...(typeof days === "number" && { days }) };
    make.mutate({ body });
  };
  if (make.data) {
    return (
      <Stack gap="md">
        <Once value={make.data.key} about={t.onceKey} />
        <Group justify="flex-end"><Button variant="default" onClick={onClose}>{t.close}</Button></Group>
      </Stack>
    );
  }
  return (
    <form onSubmit={submit}>
      <Stack gap="md">
        <TextInput label={t.name} description={t.nameAbout} required maxLength={100} data-autofocus value={name} onChange={(event) => setName(event.currentTarget.value)} />
        <Select label={t.role} data={ROLES.map((value) => ({ value, label: t[value] }))} value={role} onChange={(value) => setRole(value as typeof role)} />
        <NumberField label={t.days} min={1} max={3650} value={days} onChange={setDays} />
        <Textarea label={t.tasks} autosize minRows={1} maxRows={6} value={tasks} onChange={(event) => setTasks(event.currentTarget.value)} />
        {make.error && <ErrorPanel error={make.error} />}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>{t.cancel}</Button>
          <Button type="submit" loading={make.isPending} disabled={name.trim() === ""}>{t.create}</Button>
        </Group>
      </Stack>
    </form>
  );
}
