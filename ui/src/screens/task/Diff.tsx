/** The change of an attempt: its files, then the lines of the selected file. */
import { Anchor, Group, SegmentedControl, Stack, Text } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";

import { urlOf } from "../../api/client";
import { useRead } from "../../api/queries";
import type { ChangedFileView } from "../../api/schema.gen";
import { useTexts } from "../../i18n";
import { AnyText, Shown, useParam } from "../../kit";
import { PatchLines } from "./PatchLines";
import type { TabProps } from ".";
import { texts } from "./texts";

export default function Diff({ task, attempt }: TabProps) {
  const t = useTexts(texts);
  const [since, setSince] = useParam("since", "attempt");
  const [path, setPath] = useParam("path");
  const sinceStart = since === "start";
  const params = { task: task.task_id };
  const query = { since_start: sinceStart, ...(attempt !== null && { attempt }) };
  const change = useRead("/v1/tasks/{task}/diff/files", { params, query });
  if (change.error?.status === 404) return <Text c="dimmed">{t.noChange}</Text>;
  return (
    <Shown query={change}>
      {(data) => {
        const file = data.files.find((each) => each.path === path) ?? data.files[0];
        return (
          <Stack gap="md">
            <Group gap="md">
              <SegmentedControl
                size="xs"
                aria-label={t.scope}
                value={since}
                onChange={setSince}
                data={[{ value: "attempt", label: t.thisAttempt }, { value: "start", label: t.sinceStart }]}
              />
              {data.base && <Text size="xs" c="dimmed">{t.scope} <code>{data.base.slice(0, 12)}</code></Text>}
              <Anchor size="xs" href={urlOf("/v1/tasks/{task}/evidence.zip", params, { attempt: data.attempt })} download>{t.bundle}</Anchor>
            </Group>
            {!file && <Text c="dimmed">{t.noChange}</Text>}
            {file && (
              <div className="diff">
                <Files files={data.files} selected={file.path} onSelect={setPath} />
                <div style={{ minWidth: 0 }}>
                  <FileHead file={file} />
                  {file.is_binary
                    ? <Text c="dimmed" p="md">{t.binary}</Text>
                    : <PatchLines key={`${file.path} ${since}`} taskId={task.task_id} file={file} attempt={data.attempt} sinceStart={sinceStart} />}
                </div>
              </div>
            )}
          </Stack>
        );
      }}
    </Shown>
  );
}

function Files({ files, selected, onSelect }: { files: readonly ChangedFileView[]; selected: string; onSelect: (path: string) => void }) {
  const t = useTexts(texts);
  return (
    <nav className="card diff-files" aria-label={t.files}>
      {files.map((file) => (
        <button
          key={file.path}
          type="button"
          className="row-link diff-file"
          data-selected={file.path === selected}
          aria-current={file.path === selected}
          onClick={() => onSelect(file.path)}
        >
          {!file.is_allowed && <IconAlertTriangle size={14} color="var(--state-fail)" aria-label={t.outOfScope} />}
          <AnyText oneLine style={{ flex: 1 }}>{file.path}</AnyText>
          <Counts file={file} />
        </button>
      ))}
    </nav>
  );
}

function Counts({ file }: { file: ChangedFileView }) {
  return (
    <span className="diff-counts">
      <span style={{ color: "var(--state-done)" }}>+{file.added}</span> <span style={{ color: "var(--state-fail)" }}>−{file.removed}</span>
    </span>
  );
}

function FileHead({ file }: { file: ChangedFileView }) {
  const t = useTexts(texts);
  const never = file.never_run?.length ?? 0;
  return (
    <Group gap="sm" mb="xs">
      <Text size="sm" fw={600} ff="monospace">
        {file.old_path && <><AnyText>{file.old_path}</AnyText> → </>}<AnyText>{file.path}</AnyText>
      </Text>
      <Counts file={file} />
      {!file.is_allowed && (
        <span className="pill" style={{ color: "var(--state-fail)", background: "var(--state-fail-soft)" }} title={file.why}>
          <IconAlertTriangle size={12} aria-hidden /> {t.outOfScope}
        </span>
      )}
      {!file.is_allowed && file.why && <Text size="xs" c="dimmed"><AnyText>{file.why}</AnyText></Text>}
      {never > 0 && (
        <span className="pill" style={{ color: "var(--state-ask)", background: "var(--state-ask-soft)" }}>{t.neverRun(never)}</span>
      )}
    </Group>
  );
}
