/** The form for an answer: its choices, what each leads to, and what each needs. */
import { Button, Group, Radio, Stack, Text, Textarea } from "@mantine/core";
import { type FormEvent, useState } from "react";

import { ApiProblem } from "../../api/client";
import { useAct } from "../../api/queries";
import type { AnswerBody, ChoiceView, QuestionFormView } from "../../api/schema.gen";
import { useTexts } from "../../i18n";
import { AnyText, ErrorPanel, tell } from "../../kit";
import { type Documents, DocumentFields, faultOf, filesOf } from "./DocumentFields";
import { useAnswerWord } from "./kinds";
import { leadsTo, texts } from "./texts";

export function AnswerForm({ form, onAnswered }: { form: QuestionFormView; onAnswered: () => void }) {
  const t = useTexts(texts);
  const [word, setWord] = useState(form.choices[0]?.answer ?? "");
  const [text, setText] = useState("");
  const [option, setOption] = useState("");
  const [documents, setDocuments] = useState<Documents>({});
  const [isSure, setSure] = useState(false);
  const answer = useAct("/v1/inbox/{question}/answer");
  const upload = useAct("/v1/inbox/{question}/upload");

  const choice = form.choices.find((each) => each.answer === word);
  const isGivingUp = word === "give-up";
  const fault = word === "file" ? faultOf(form, documents, t) : null;
  const isWhole = isComplete(word, text, option, documents);
  const problem = answer.error ?? upload.error;
  const done = () => {
    tell(t.done);
    onAnswered();
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isGivingUp && !isSure) {
      setSure(true);
      return;
    }
    const params = { question: form.question_id };
    const sent = word === "file"
      ? upload.mutateAsync({ params, body: uploadOf(documents) })
      : answer.mutateAsync({ params, body: answerOf(word, text, option) });
    sent.then(done, () => undefined); // what went wrong is shown; this form may be gone by then
  };
  return (
    <form onSubmit={submit} data-answer>
      <Stack gap="md">
        <Radio.Group
          value={word}
          label={t.yourAnswer}
          onChange={(next) => {
            setWord(next);
            setSure(false);
          }}
        >
          <Stack gap={6} mt={6}>
            {form.choices.map((each) => <ChoiceCard key={each.answer} kind={form.kind} choice={each} isChosen={each.answer === word} />)}
          </Stack>
        </Radio.Group>
        {word === "text" && (
          <Textarea
            label={form.kind === "APPROVAL" ? t.reasonPlan : t.reason}
            required
            autosize
            minRows={3}
            maxRows={14}
            dir="auto"
            value={text}
            onChange={(event) => setText(event.currentTarget.value)}
          />
        )}
        {choice && choice.options.length > 0 && <Options choice={choice} value={option} onChange={setOption} />}
        {word === "file" && <DocumentFields form={form} documents={documents} onChange={setDocuments} />}
        {fault && <Text size="sm" c="var(--state-fail)" role="alert">{fault}</Text>}
        {problem && <ErrorPanel error={problem as ApiProblem} />}
        {isSure && isGivingUp && <Text size="sm" role="alert">{t.sure}</Text>}
        <Group gap="xs">
          <Button type="submit" color={isGivingUp ? "red" : undefined} disabled={!isWhole || fault !== null} loading={answer.isPending || upload.isPending}>
            {isGivingUp ? t.giveUp : t.answer}
          </Button>
          {isSure && isGivingUp && <Button variant="default" onClick={() => setSure(false)}>{t.keep}</Button>}
        </Group>
      </Stack>
    </form>
  );
}

function ChoiceCard({ kind, choice, isChosen }: { kind: string; choice: ChoiceView; isChosen: boolean }) {
  const word = useAnswerWord(kind, choice.answer);
  const translated = useTexts(leadsTo) as Readonly<Record<string, string>>;
  return (
    <Radio.Card value={choice.answer} className="choice" data-chosen={isChosen} data-choice={choice.answer} p="sm" radius="md">
      <Group wrap="nowrap" align="flex-start" gap="sm">
        <Radio.Indicator mt={2} />
        <div>
          <Text size="sm" fw={600}>{word}</Text>
          <Text size="xs" c="dimmed">{translated[choice.leads_to] ?? choice.leads_to}</Text>
        </div>
      </Group>
    </Radio.Card>
  );
}

function Options({ choice, value, onChange }: { choice: ChoiceView; value: string; onChange: (value: string) => void }) {
  const t = useTexts(texts);
  return (
    <Radio.Group value={value} onChange={onChange} label={t.option} required>
      <Stack gap={6} mt={6}>
        {choice.options.map((each) => <Radio key={each} value={each} label={<AnyText>{each}</AnyText>} />)}
      </Stack>
    </Radio.Group>
  );
}

function isComplete(word: string, text: string, option: string, documents: Documents): boolean {
  if (word === "text") return text.trim() !== "";
  if (word === "choose") return option !== "";
  if (word === "file") return filesOf(documents).length > 0;
  return word !== "";
}

function answerOf(word: string, text: string, option: string): AnswerBody {
  if (word === "text") return { text };
  if (word === "choose") return { choose: option };
  if (word === "approve") return { approve: true };
  if (word === "give-up") return { give_up: true };
  if (word === "yes" || word === "no") return { yes: word === "yes" };
  return { line: word };
}

function uploadOf(documents: Documents): FormData {
  const body = new FormData();
  for (const [name, files] of Object.entries(documents)) {
    for (const file of files) {
      body.append("files", file, file.name);
      body.append("documents", name);
    }
  }
  return body;
}
