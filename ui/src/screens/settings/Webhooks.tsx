/** Webhooks, and the log of what was sent to each. */
import { Button, Checkbox, Group, Modal, Stack, Text, TextInput } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { type FormEvent, useState } from "react";

import { useAct, useRead } from "../../api/queries";
import type { DeliveryView, WebhookView } from "../../api/schema.gen";
import { useTexts } from "../../i18n";
import { AnyText, ErrorPanel, Shown, tellProblem, TimeAgo } from "../../kit";
import { Section } from ".";
import { Once } from "./Once";
import { texts } from "./texts";

const KINDS = ["question.asked", "task.dead_letter", "plan.finished", "plan.cancelled", "plan.held"];
const HUES: Readonly<Record<string, string>> = { delivered: "done", waiting: "work", "given up": "fail" };

export function Webhooks() {
  const t = useTexts(texts);
  const webhooks = useRead("/v1/webhooks", {});
  const [isAdding, setAdding] = useState(false);
  const [looked, setLooked] = useState<WebhookView | null>(null);
  const action = (
    <Button size="compact-md" variant="light" leftSection={<IconPlus size={15} aria-hidden />} onClick={() => setAdding(true)}>{t.addWebhook}</Button>
  );
  return (
    <Section title={t.webhooks} about={t.webhooksAbout} action={action}>
      <Shown query={webhooks}>
        {({ items }) =>
          items.length === 0
            ? <Text size="sm" c="dimmed">{t.noWebhooks}</Text>
            : <div role="list">{items.map((webhook) => <WebhookRow key={webhook.webhook_id} webhook={webhook} onLook={setLooked} />)}</div>}
      </Shown>
      <Modal opened={isAdding} onClose={() => setAdding(false)} title={t.addWebhook}>
        {isAdding && <WebhookForm onClose={() => setAdding(false)} />}
      </Modal>
      <Modal opened={looked !== null} onClose={() => setLooked(null)} title={t.deliveries} size="lg">
        {looked && <Deliveries webhook={looked} />}
      </Modal>
    </Section>
  );
}

function WebhookRow({ webhook, onLook }: { webhook: WebhookView; onLook: (webhook: WebhookView) => void }) {
  const t = useTexts(texts);
  const remove = useAct("/v1/webhooks/{webhook}/remove");
  const act = () => remove.mutate({ params: { webhook: webhook.webhook_id } }, { onError: tellProblem });
  return (
    <div role="listitem" className="list-row" style={{ paddingInline: 0 }}>
      <div style={{ flex: 1, minWidth: 0 }}>
        <Text size="sm" fw={600}><AnyText oneLine>{webhook.url}</AnyText></Text>
        <Text size="xs" c="dimmed">{webhook.kinds.length > 0 ? webhook.kinds.join(", ") : t.all}</Text>
      </div>
      <Button size="compact-xs" variant="subtle" onClick={() => onLook(webhook)}>{t.deliveries}</Button>
      <Button size="compact-xs" variant="subtle" color="red" loading={remove.isPending} aria-label={`${t.remove}: ${webhook.url}`} onClick={act}>{t.remove}</Button>
    </div>
  );
}

function Deliveries({ webhook }: { webhook: WebhookView }) {
  const t = useTexts(texts);
  const deliveries = useRead("/v1/webhooks/{webhook}/deliveries", { params: { webhook: webhook.webhook_id } }, { refetchInterval: 3_000 });
  return (
    <Shown query={deliveries}>
      {({ items }) =>
        items.length === 0
          ? <Text size="sm" c="dimmed">{t.noDeliveries}</Text>
          : <div role="list">{items.map((delivery) => <DeliveryRow key={delivery.delivery_id} delivery={delivery} />)}</div>}
    </Shown>
  );
}

function DeliveryRow({ delivery }: { delivery: DeliveryView }) {
  const t = useTexts(texts);
  const again = useAct("/v1/deliveries/{delivery}/redeliver");
  const hue = HUES[delivery.state] ?? "idle";
  const words = { waiting: t.waiting, delivered: t.delivered, "given up": t.givenUp }[delivery.state] ?? delivery.state;
  return (
    <div role="listitem" className="list-row" style={{ paddingInline: 0 }}>
      <span className="pill" style={{ color: `var(--state-${hue})`, background: `var(--state-${hue}-soft)` }}>{words}</span>
      <div style={{ flex: 1, minWidth: 0 }}>
        <Text size="sm">{delivery.kind}</Text>
        <Text size="xs" c="dimmed" component="div">
          <TimeAgo at={delivery.made_at} /> · {t.attempts(delivery.attempts)}
          {delivery.status !== null && <> · HTTP {delivery.status}</>}
          {delivery.error && <> · <AnyText>{delivery.error}</AnyText></>}
        </Text>
      </div>
      <Button size="compact-xs" variant="subtle" loading={again.isPending} onClick={() => again.mutate({ params: { delivery: delivery.delivery_id } }, { onError: tellProblem })}>
        {t.again}
      </Button>
    </div>
  );
}

function WebhookForm({ onClose }: { onClose: () => void }) {
  const t = useTexts(texts);
  const [url, setUrl] = useState("");
  const [kinds, setKinds] = useState<string[]>([]);
  const make = useAct("/v1/webhooks");
  const submit = (event: FormEvent) => {
    event.preventDefault();
    make.mutate({ body: { url: url.trim(), kinds } });
  };
  if (make.data) {
    return (
      <Stack gap="md">
        <Once value={make.data.secret} about={t.onceSecret} />
        <Group justify="flex-end"><Button variant="default" onClick={onClose}>{t.close}</Button></Group>
      </Stack>
    );
  }
  return (
    <form onSubmit={submit}>
      <Stack gap="md">
        <TextInput label={t.url} type="url" required placeholder="https://" data-autofocus value={url} onChange={(event) => setUrl(event.currentTarget.value)} />
        <Checkbox.Group label={t.kinds} value={kinds} onChange={setKinds}>
          <Group gap="md" mt={6}>
            {KINDS.map((kind) => <Checkbox key={kind} value={kind} label={kind} />)}
          </Group>
        </Checkbox.Group>
        {make.error && <ErrorPanel error={make.error} />}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>{t.cancel}</Button>
          <Button type="submit" loading={make.isPending} disabled={url.trim() === ""}>{t.create}</Button>
        </Group>
      </Stack>
    </form>
  );
}
