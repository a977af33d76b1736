/** The inbox: a list of questions, and the form of the selected question beside it. */
import { Group, SegmentedControl, Stack, Text, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { IconSearch } from "@tabler/icons-react";
import { useEffect, useRef } from "react";
import { useParams } from "react-router";

import { usePages } from "../../api/queries";
import type { AskedView } from "../../api/schema.gen";
import { useTexts } from "../../i18n";
import { AnyText, EmptyState, ErrorPanel, Loading, MoreButton, Screen, SplitView, TimeAgo, useListKeys, useParam, useShortcuts } from "../../kit";
import { QuestionKind } from "./kinds";
import { QuestionDetail } from "./QuestionDetail";
import { texts } from "./texts";

export default function Inbox() {
  const t = useTexts(texts);
  const { question } = useParams();
  const [shown, setShown] = useParam("show", "open");
  const [search, setSearch] = useParam("q");
  const [filter] = useDebouncedValue(search.trim(), 250);
  const query = { answered: shown === "all", limit: 100, ...(filter && { filter }) };
  const list = usePages("/v1/inbox", { query });
  const field = useRef<HTMLInputElement>(null);

  const ids = list.items.map(nameOf);
  const toAnswer = () => document.querySelector<HTMLElement>("[data-answer] input, [data-answer] button")?.focus();
  const { selected, select } = useListKeys(ids, {
    labels: { next: t.next, previous: t.previous, open: t.openIt },
    open: toAnswer,
  });
  useShortcuts([{ keys: "/", label: t.search, run: () => field.current?.focus() }]);
  useEffect(() => {
    if (question && !selected) select(question);
  }, [question]); // eslint-disable-line -- the address names a question once

  const current = selected ?? question ?? null;
  const isShown = useRef(true);
  useEffect(() => {
    isShown.current = true;
    return () => void (isShown.current = false);
  }, []);
  const goOn = () => {
    if (!isShown.current) return; // the person has gone to another screen meanwhile: stay there
    const at = ids.indexOf(current ?? "");
    select(ids[at + 1] ?? ids[at - 1] ?? null);
  };
  const side = current && <QuestionDetail key={current} name={current} onAnswered={goOn} />;
  return (
    <Screen title={t.title} name={t.title} about={t.about}>
      <Group gap="sm">
        <SegmentedControl
          size="sm"
          aria-label={t.showing}
          value={shown}
          onChange={setShown}
          data={[{ value: "open", label: t.open }, { value: "all", label: t.answered }]}
        />
        <TextInput
          ref={field}
          type="search"
          aria-label={t.search}
          placeholder={t.search}
          leftSection={<IconSearch size={15} aria-hidden />}
          value={search}
          onChange={(event) => setSearch(event.currentTarget.value)}
          style={{ flex: "0 1 320px" }}
        />
      </Group>
      {list.error && <ErrorPanel error={list.error} onRetry={() => void list.refetch()} />}
      {!list.error && list.isPending && <Loading />}
      {list.data && list.items.length === 0 && !current && <Nothing isSearch={Boolean(filter)} />}
      {(list.items.length > 0 || current) && (
        <SplitView side={side} label={t.question} onClose={() => select(null)}>
          <Stack gap={8} role="list">
            {list.items.map((asked) => (
              <Row key={asked.question_id} asked={asked} isSelected={nameOf(asked) === current} onSelect={select} />
            ))}
            <MoreButton list={list} />
          </Stack>
        </SplitView>
      )}
    </Screen>
  );
}

function Nothing({ isSearch }: { isSearch: boolean }) {
  const t = useTexts(texts);
  if (isSearch) return <EmptyState title={t.noMatch}>{t.noMatchAbout}</EmptyState>;
  return <EmptyState title={t.none} command="accordance run">{t.noneAbout}</EmptyState>;
}

function Row({ asked, isSelected, onSelect }: { asked: AskedView; isSelected: boolean; onSelect: (id: string) => void }) {
  const t = useTexts(texts);
  const name = nameOf(asked);
  return (
    <div role="listitem" data-item={name}>
      <button type="button" className="card row-link inbox-row" data-selected={isSelected} aria-current={isSelected} onClick={() => onSelect(name)}>
        <Group justify="space-between" wrap="nowrap" gap="sm" align="flex-start">
          <Text fw={600} size="sm" component="span" style={{ minWidth: 0 }}>
            <AnyText oneLine>{asked.task_title ?? t.wholePlan}</AnyText>
          </Text>
          <QuestionKind kind={asked.kind} isOpen={asked.answered_at === null} />
        </Group>
        <Text size="sm" lineClamp={2} component="div" ta="start"><AnyText>{asked.reason}</AnyText></Text>
        <Group gap={6} wrap="nowrap" fz="xs" c="dimmed">
          {asked.number !== null && <span>#{asked.number}</span>}
          <AnyText oneLine style={{ maxWidth: 260 }}>{asked.plan_title}</AnyText>
          <span>·</span>
          <TimeAgo at={asked.since} />
          {asked.alike > 0 && <span>· {t.alike(asked.alike)}</span>}
        </Group>
      </button>
    </div>
  );
}

function nameOf(asked: AskedView): string {
  return asked.number === null ? asked.question_id : String(asked.number);
}
