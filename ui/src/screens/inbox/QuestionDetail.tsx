/** A question, why it is asked, and the form for its answer. */
import { Alert, Anchor, Divider, Group, Stack, Text, Title } from "@mantine/core";
import { IconBulb, IconCheck } from "@tabler/icons-react";
import { Link } from "react-router";

import { useRead } from "../../api/queries";
import type { AskedView } from "../../api/schema.gen";
import { useMay } from "../../app/session";
import { useTexts } from "../../i18n";
import { AnyText, Json, Shown, TimeAgo } from "../../kit";
import { AnswerForm } from "./AnswerForm";
import { QuestionKind } from "./kinds";
import { texts } from "./texts";

const SHOWN_ELSEWHERE = new Set(["reason", "required_docs"]);

export function QuestionDetail({ name, onAnswered }: { name: string; onAnswered: () => void }) {
  const asked = useRead("/v1/inbox/{question}", { params: { question: name } });
  return <Shown query={asked}>{(data) => <Detail asked={data} onAnswered={onAnswered} />}</Shown>;
}

function Detail({ asked, onAnswered }: { asked: AskedView; onAnswered: () => void }) {
  const t = useTexts(texts);
  const isOpen = asked.answered_at === null;
  return (
    <Stack gap="md">
      <Group gap="xs">
        <QuestionKind kind={asked.kind} isOpen={isOpen} />
        <Text size="xs" c="dimmed"><TimeAgo at={asked.since} /></Text>
      </Group>
      <div>
        <Title order={2} fz={18} lh={1.35}><AnyText>{asked.task_title ?? asked.plan_title}</AnyText></Title>
        <Group gap={10} mt={4} fz="sm">
          {asked.task_id && <Anchor component={Link} size="sm" to={`/tasks/${encodeURIComponent(asked.task_id)}`}>{t.task}</Anchor>}
          <Anchor component={Link} size="sm" to={`/plans/${encodeURIComponent(asked.plan_id)}`}>{t.plan}: <AnyText oneLine style={{ maxWidth: 220 }}>{asked.plan_title}</AnyText></Anchor>
        </Group>
      </div>
      <Text size="sm" component="div" style={{ whiteSpace: "pre-wrap" }}><AnyText>{asked.reason}</AnyText></Text>
      <Text size="xs" c="dimmed" ff="monospace">{asked.reason_code}</Text>
      {asked.alike > 0 && <Text size="sm" c="dimmed">{t.alike(asked.alike)}</Text>}
      {asked.mend && (
        <Alert className="asks" variant="light" color="yellow" icon={<IconBulb size={17} />} title={t.mend}>
          <AnyText>{asked.mend}</AnyText>
        </Alert>
      )}
      <FurtherDetails details={asked.details} />
      <Divider />
      {isOpen ? <Answering asked={asked} onAnswered={onAnswered} /> : <WasAnswered asked={asked} />}
    </Stack>
  );
}

function FurtherDetails({ details }: { details: AskedView["details"] }) {
  const t = useTexts(texts);
  const further = Object.fromEntries(Object.entries(details).filter(([key]) => !SHOWN_ELSEWHERE.has(key)));
  if (Object.keys(further).length === 0) return null;
  return (
    <details>
      <summary className="quiet-summary">{t.details}</summary>
      <Json value={further} label={t.details} height={260} />
    </details>
  );
}

function Answering({ asked, onAnswered }: { asked: AskedView; onAnswered: () => void }) {
  const t = useTexts(texts);
  const form = useRead("/v1/inbox/{question}/form", { params: { question: asked.question_id } });
  if (!useMay("decide")) return <Text size="sm" c="dimmed">{t.notAllowed}</Text>;
  return <Shown query={form}>{(data) => <AnswerForm form={data} onAnswered={onAnswered} />}</Shown>;
}

function WasAnswered({ asked }: { asked: AskedView }) {
  const t = useTexts(texts);
  return (
    <Stack gap="xs">
      <Group gap={6} c="var(--state-done)">
        <IconCheck size={16} aria-hidden />
        <Text size="sm" fw={600}>{t.wasAnswered}</Text>
        {asked.answered_at && <Text size="xs" c="dimmed"><TimeAgo at={asked.answered_at} /></Text>}
      </Group>
      <Json value={asked.answer} label={t.yourAnswer} height={220} />
    </Stack>
  );
}
