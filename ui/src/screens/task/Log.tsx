/** The end of what the executor of an attempt printed. */
import { Stack, Text } from "@mantine/core";

import { useRead } from "../../api/queries";
import { useTexts } from "../../i18n";
import { AnyText, Code, Shown } from "../../kit";
import type { TabProps } from ".";
import { texts } from "./texts";

export default function Log({ task, attempt }: TabProps) {
  const t = useTexts(texts);
  const query = attempt === null ? {} : { attempt };
  const log = useRead("/v1/tasks/{task}/log", { params: { task: task.task_id }, query });
  if (log.error?.status === 404) return <Text c="dimmed">{t.noLog}</Text>;
  return (
    <Shown query={log}>
      {(data) => (
        <Stack gap="xs">
          <Text size="sm" c="dimmed" component="div">
            {t.attempt(data.attempt)} · <AnyText>{data.about}</AnyText>
            {data.file && <> · <code><AnyText>{data.file}</AnyText></code></>}
            {data.is_cut && <> · {t.logEnd}</>}
          </Text>
          <Code text={data.text} label={t.log} height={640} numbers />
        </Stack>
      )}
    </Shown>
  );
}
