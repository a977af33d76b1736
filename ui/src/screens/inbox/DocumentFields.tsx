/** Fields for the documents that a question asks for: chosen, or dropped upon. */
import { Button, CloseButton, Group, Stack, Text } from "@mantine/core";
import { IconCheck, IconUpload } from "@tabler/icons-react";
import { type DragEvent, useId, useRef, useState } from "react";

import type { DocumentFieldView, QuestionFormView } from "../../api/schema.gen";
import { type InOneLanguage, useTexts } from "../../i18n";
import { AnyText } from "../../kit";
import { texts } from "./texts";

/** The files that were chosen, by the name of their document; "" is any document. */
export type Documents = Readonly<Record<string, readonly File[]>>;

export function DocumentFields({ form, documents, onChange }: {
  form: QuestionFormView; documents: Documents; onChange: (documents: Documents) => void;
}) {
  const t = useTexts(texts);
  const fields: readonly Partial<DocumentFieldView>[] = form.documents.length > 0 ? form.documents : [{ name: "" }];
  return (
    <Stack gap="sm">
      {fields.map((field) => {
        const name = field.name ?? "";
        return (
          <DocumentField
            key={name}
            field={field}
            label={name || t.files}
            largest={form.largest_upload}
            files={documents[name] ?? []}
            onChange={(files) => onChange({ ...documents, [name]: files })}
          />
        );
      })}
    </Stack>
  );
}

function DocumentField({ field, label, largest, files, onChange }: {
  field: Partial<DocumentFieldView>; label: string; largest: number;
  files: readonly File[]; onChange: (files: readonly File[]) => void;
}) {
  const t = useTexts(texts);
  const input = useRef<HTMLInputElement>(null);
  const [isOver, setOver] = useState(false);
  const labelId = useId();
  const types = field.accepted_types ?? [];
  const add = (list: FileList | null) => onChange([...files, ...(list ?? [])]);
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    add(event.dataTransfer.files);
  };
  const limits = [types.length > 0 ? types.join(", ") : t.any, t.upTo(sizeText(largest))];
  if (field.is_required === false) limits.push(t.optional);
  return (
    <div
      className="drop"
      data-over={isOver}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
    >
      <Group justify="space-between" wrap="nowrap">
        <Text size="sm" fw={600} id={labelId}><AnyText>{label}</AnyText></Text>
        {field.has_file && <Text size="xs" c="var(--state-done)" component="span"><IconCheck size={12} aria-hidden /> {t.there}</Text>}
      </Group>
      {field.help && <Text size="xs" c="dimmed"><AnyText>{field.help}</AnyText></Text>}
      <Group gap="xs" mt={8}>
        <Button size="compact-sm" variant="default" leftSection={<IconUpload size={14} aria-hidden />} onClick={() => input.current?.click()}>
          {t.drop}
        </Button>
        <Text size="xs" c="dimmed">{limits.join(" · ")}</Text>
      </Group>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-labelledby={labelId}
        accept={types.join(",") || undefined}
        onChange={(event) => {
          add(event.currentTarget.files);
          event.currentTarget.value = "";
        }}
      />
      {files.map((file, index) => (
        <Group key={`${index} ${file.name}`} gap="xs" mt={6} wrap="nowrap">
          <AnyText oneLine style={{ maxWidth: 240, fontSize: 13 }}>{file.name}</AnyText>
          <Text size="xs" c="dimmed">{sizeText(file.size)}</Text>
          <CloseButton size="xs" aria-label={`${t.remove}: ${file.name}`} onClick={() => onChange(files.filter((_, at) => at !== index))} />
        </Group>
      ))}
    </div>
  );
}

export function filesOf(documents: Documents): readonly File[] {
  return Object.values(documents).flat();
}

/** What is wrong with the chosen files, before they are sent. */
export function faultOf(form: QuestionFormView, documents: Documents, t: InOneLanguage<typeof texts>): string | null {
  for (const { name, accepted_types: types } of form.documents) {
    if (types.length === 0) continue;
    const wrong = (documents[name] ?? []).find((file) => !types.some((type) => isOf(file.name, type)));
    if (wrong) return t.wrongType(wrong.name, types.join(", "));
  }
  const size = filesOf(documents).reduce((sum, file) => sum + file.size, 0);
  return size > form.largest_upload ? t.tooLarge(sizeText(form.largest_upload)) : null;
}

function isOf(name: string, type: string): boolean {
  const suffix = type.startsWith(".") ? type : `.${type}`;
  return name.toLowerCase().endsWith(suffix.toLowerCase());
}

export function sizeText(bytes: number): string {
  const units = ["B", "KiB", "MiB", "GiB"];
  let size = bytes;
  let at = 0;
  while (size >= 1024 && at < units.length - 1) {
    size /= 1024;
    at += 1;
  }
  return `${at === 0 ? size : size.toFixed(size < 10 ? 1 : 0)} ${units[at]}`;
}
