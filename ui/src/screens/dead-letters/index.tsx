/** Dead letters by reason, requeued together after a preview. */
import { Button, Group, Stack, Text, TextInput, Title } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { IconRefresh, IconSearch, IconTrash } from "@tabler/icons-react";
import { useRef, useState } from "react";
import { Link, useNavigate } from "react-router";

import { useRead } from "../../api/queries";
import type { BulkItemView, DeadLetterGroupView } from "../../api/schema.gen";
import { useMay } from "../../app/session";
import { useTexts } from "../../i18n";
import { AnyText, EmptyState, Screen, Shown, TimeAgo, useListKeys, useParam, useShortcuts } from "../../kit";
import { DropDialog } from "./DropDialog";
import { RequeueDialog } from "./RequeueDialog";
import { texts } from "./texts";

const SHOWN_AT_FIRST = 8;

export default function DeadLetters() {
  const t = useTexts(texts);
  const navigate = useNavigate();
  const mayDecide = useMay("decide");
  const [search, setSearch] = useParam("q");
  const [filter] = useDebouncedValue(search.trim(), 250);
  const groups = useRead("/v1/dead-letters/groups", { query: filter ? { filter } : {} }, { keepPrevious: true });
  const [requeued, setRequeued] = useState<readonly BulkItemView[]>([]);
  const [dropped, setDropped] = useState<BulkItemView | null>(null);
  const field = useRef<HTMLInputElement>(null);

  const items = groups.data?.groups.flatMap((group) => group.items) ?? [];
  const { selected } = useListKeys(items.map(({ id }) => id), {
    labels: { next: t.next, previous: t.previous, open: t.open },
    open: (id) => void navigate(`/tasks/${encodeURIComponent(id)}`),
  });
  useShortcuts([
    { keys: "/", label: t.search, run: () => field.current?.focus() },
    {
      keys: "r",
      label: t.requeueSelected,
      run: () => mayDecide && setRequeued(items.filter(({ id }) => id === selected)),
    },
  ]);
  return (
    <Screen title={t.title} name={t.title} about={t.about}>
      <Group gap="sm">
        <TextInput
          ref={field}
          type="search"
          aria-label={t.search}
          placeholder={t.search}
          leftSection={<IconSearch size={15} aria-hidden />}
          value={search}
          onChange={(event) => setSearch(event.currentTarget.value)}
          style={{ flex: "0 1 420px" }}
        />
        {groups.data && <Text size="sm" c="dimmed">{t.total(groups.data.total)}</Text>}
        {!mayDecide && <Text size="sm" c="dimmed">{t.notAllowed}</Text>}
      </Group>
      <Shown query={groups}>
        {(data) =>
          data.groups.length === 0
            ? <Nothing isSearch={Boolean(filter)} />
            : (
              <Stack gap="md">
                {data.groups.map((group) => (
                  <ReasonGroup
                    key={group.reason_code ?? ""}
                    group={group}
                    selected={selected}
                    onRequeue={mayDecide ? setRequeued : undefined}
                    onDrop={mayDecide ? setDropped : undefined}
                  />
                ))}
              </Stack>
            )}
      </Shown>
      <RequeueDialog items={requeued} onClose={() => setRequeued([])} />
      <DropDialog item={dropped} onClose={() => setDropped(null)} />
    </Screen>
  );
}

function Nothing({ isSearch }: { isSearch: boolean }) {
  const t = useTexts(texts);
  if (isSearch) return <EmptyState title={t.noMatch}>{t.noMatchAbout}</EmptyState>;
  return <EmptyState title={t.none}>{t.noneAbout}</EmptyState>;
}

function ReasonGroup({ group, selected, onRequeue, onDrop }: {
  group: DeadLetterGroupView;
  selected: string | null;
  onRequeue: ((items: readonly BulkItemView[]) => void) | undefined;
  onDrop: ((item: BulkItemView) => void) | undefined;
}) {
  const t = useTexts(texts);
  const [showsAll, setShowsAll] = useState(false);
  const reason = group.reason_code ?? t.noReason;
  const shown = showsAll ? group.items : group.items.slice(0, SHOWN_AT_FIRST);
  const further = group.count - shown.length;
  return (
    <section className="card" aria-label={reason}>
      <Group justify="space-between" p="md" gap="md" align="flex-start">
        <div style={{ minWidth: 0, flex: "1 1 300px" }}>
          <Title order={2} fz={16} ff={group.reason_code ? "monospace" : undefined}>{reason}</Title>
          <Text size="sm" mt={2} component="div" lineClamp={2}><AnyText>{group.example}</AnyText></Text>
          <Text size="xs" c="dimmed" mt={6}>
            {t.count(group.count, group.plans)} · {t.between} <TimeAgo at={group.oldest} />
            {group.newest !== group.oldest && <> – <TimeAgo at={group.newest} /></>}
          </Text>
        </div>
        {onRequeue && (
          <Button variant="light" leftSection={<IconRefresh size={15} aria-hidden />} onClick={() => onRequeue(group.items)}>
            {t.requeueAll(group.items.length)}
          </Button>
        )}
      </Group>
      <div role="list" style={{ borderTop: "1px solid var(--line)" }}>
        {shown.map((item) => (
          <div role="listitem" key={item.id} data-item={item.id} data-selected={item.id === selected} className="row-link list-row">
            <Link to={`/tasks/${encodeURIComponent(item.id)}`} className="plain-link" style={{ flex: 1, minWidth: 0 }}>
              <AnyText oneLine>{item.title}</AnyText>
            </Link>
            <Text size="xs" c="dimmed" component="span"><TimeAgo at={item.seen_at} /></Text>
            {onRequeue && (
              <Button size="compact-xs" variant="subtle" aria-label={`${t.requeueEach}: ${item.title}`} onClick={() => onRequeue([item])}>{t.requeueEach}</Button>
            )}
            {onDrop && (
              <Button size="compact-xs" variant="subtle" color="gray" leftSection={<IconTrash size={13} aria-hidden />} aria-label={`${t.drop}: ${item.title}`} onClick={() => onDrop(item)}>
                {t.drop}
              </Button>
            )}
          </div>
        ))}
        {further > 0 && (
          <Button variant="subtle" size="compact-sm" m={8} onClick={() => setShowsAll(true)} disabled={showsAll}>{t.more(further)}</Button>
        )}
      </div>
    </section>
  );
}
