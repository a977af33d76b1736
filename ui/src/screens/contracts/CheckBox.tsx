/** A pasted message is checked by the real checker, on the server. */
import { Alert, Button, Checkbox, Group, Stack, Text, Textarea, TextInput } from "@mantine/core";
import { IconCheck, IconX } from "@tabler/icons-react";
import { type FormEvent, useState } from "react";

import { useAct } from "../../api/queries";
import type { CheckView } from "../../api/schema.gen";
import { useTexts } from "../../i18n";
import { ErrorPanel, Json, Repairs, Violations, Warnings } from "../../kit";
import { texts } from "./texts";

export function CheckBox({ contract }: { contract: string }) {
  const t = useTexts(texts);
  const [message, setMessage] = useState("");
  const [taskId, setTaskId] = useState("");
  const [isTolerant, setTolerant] = useState(false);
  const check = useAct("/v1/check");
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const query = { contract, tolerant: isTolerant, ...(taskId.trim() && { task_id: taskId.trim() }) };
    check.mutate({ query, body: new Blob([message]), contentType: "text/plain" });
  };
  return (
    <div className="check-box">
      <form onSubmit={submit}>
        <Stack gap="sm">
          <Textarea
            label={t.paste}
            description={t.pasteAbout}
            required
            autosize
            minRows={14}
            maxRows={30}
            spellCheck={false}
            styles={{ input: { fontFamily: "var(--mantine-font-family-monospace)", fontSize: 13 } }}
            value={message}
            onChange={(event) => setMessage(event.currentTarget.value)}
          />
          <TextInput label={t.taskId} value={taskId} onChange={(event) => setTaskId(event.currentTarget.value)} />
          <Checkbox label={t.tolerant} checked={isTolerant} onChange={(event) => setTolerant(event.currentTarget.checked)} />
          <Group><Button type="submit" loading={check.isPending} disabled={message === ""}>{t.run}</Button></Group>
        </Stack>
      </form>
      <div aria-live="polite" style={{ minWidth: 0 }}>
        {check.error && <ErrorPanel error={check.error} />}
        {check.data && <Checked view={check.data} />}
      </div>
    </div>
  );
}

function Checked({ view }: { view: CheckView }) {
  const t = useTexts(texts);
  return (
    <Stack gap="sm">
      <Alert
        color={view.accepted ? "teal" : "red"}
        variant="light"
        icon={view.accepted ? <IconCheck size={18} /> : <IconX size={18} />}
        title={view.accepted ? t.accepted : t.rejected}
        data-accepted={view.accepted}
      >
        {view.contract}
      </Alert>
      <Violations items={view.violations} total={view.total} />
      <Repairs items={view.repairs} />
      <Warnings items={view.warnings} />
      {view.value !== null && (
        <div>
          <Text size="sm" fw={600} mb={4}>{t.value}</Text>
          <Json value={view.value} label={t.value} />
        </div>
      )}
    </Stack>
  );
}
