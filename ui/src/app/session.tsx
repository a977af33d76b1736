/** Who looks at the page, and the way in. */
import { Button, Divider, Stack, Text, TextInput, Title } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import {
  createContext,
  type FormEvent,
  type ReactNode,
  useContext,
  useEffect,
  useState,
} from "react";

import { ApiProblem, post } from "../api/client";
import { useRead } from "../api/queries";
import type { CallerView, Right } from "../api/schema.gen";
import { useTexts } from "../i18n";
import { ErrorPanel, Loading } from "../kit/panels";
import { Logo } from "./Logo";
import { texts } from "./texts";

const CallerContext = createContext<CallerView | null>(null);

/** The person who is logged in. */
export function useCaller(): CallerView {
  const caller = useContext(CallerContext);
  if (caller === null) throw new Error("only below Session");
  return caller;
}

/** Whether the person who is logged in has a right. */
export function useMay(right: Right): boolean {
  return useCaller().rights.includes(right);
}

/** Shows its children to people who are logged in, and the way in to others. */
export function Session({ children }: { children: ReactNode }) {
  const [isReady, setReady] = useState(!keyInAddress());
  const me = useRead("/v1/me", {}, { enabled: isReady });
  useEffect(() => {
    if (isReady) return;
    const key = keyInAddress();
    history.replaceState(null, "", location.pathname + location.search); // the key is not kept
    post("/auth/session", { body: { key } })
      .catch(() => undefined) // then the way in is shown
      .finally(() => setReady(true));
  }, [isReady]);
  if (me.error?.status === 401) return <WayIn hasEnded={me.data !== undefined} />;
  if (me.data) return <CallerContext value={me.data}>{children}</CallerContext>;
  if (me.error)
    return (
      <Centered>
        <ErrorPanel error={me.error} onRetry={() => void me.refetch()} />
      </Centered>
    );
  return (
    <Centered>
      <Loading />
    </Centered>
  );
}

function keyInAddress(): string {
  return new URLSearchParams(location.hash.slice(1)).get("key") ?? "";
}

function WayIn({ hasEnded }: { hasEnded: boolean }) {
  const t = useTexts(texts);
  const client = useQueryClient();
  const ways = useRead("/auth/ways", {});
  const [key, setKey] = useState("");
  const [problem, setProblem] = useState<ApiProblem | null>(null);
  const [isBusy, setBusy] = useState(false);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setProblem(null);
    try {
      await post("/auth/session", { body: { key: key.trim() } });
      await client.resetQueries();
    } catch (error) {
      setProblem(error as ApiProblem);
    } finally {
      setBusy(false);
    }
  };
  const back = encodeURIComponent(location.pathname + location.search);
  return (
    <Centered>
      <Stack className="card" p={32} gap="md" style={{ boxShadow: "var(--shadow)" }}>
        <Logo />
        <Title order={1} fz={20}>
          {t.welcome}
        </Title>
        {hasEnded && (
          <Text size="sm" c="dimmed">
            {t.ended}
          </Text>
        )}
        <form onSubmit={(event) => void submit(event)}>
          <Stack gap="sm">
            <TextInput
              type="password"
              label={t.key}
              description={t.keyAbout}
              value={key}
              onChange={(event) => setKey(event.currentTarget.value)}
              autoComplete="current-password"
              required
              withAsterisk={false}
              autoFocus
            />
            <Button type="submit" loading={isBusy} fullWidth>
              {t.withKey}
            </Button>
          </Stack>
        </form>
        {problem && <ErrorPanel error={problem} />}
        {ways.data?.provider && (
          <>
            <Divider />
            <Button component="a" href={`/auth/login?then=${back}`} variant="default" fullWidth>
              {t.withProvider}
            </Button>
          </>
        )}
      </Stack>
    </Centered>
  );
}

function Centered({ children }: { children: ReactNode }) {
  return (
    <main style={{ minHeight: "100vh", display: "grid", placeItems: "center", padding: 16 }}>
      <div style={{ width: "min(420px, 100%)" }}>{children}</div>
    </main>
  );
}
