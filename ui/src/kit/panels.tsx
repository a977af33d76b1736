/** Frames of screens: titles, empty states, errors, a list beside its detail. */
import {
  Alert,
  Button,
  Code as InlineCode,
  Drawer,
  Group,
  Loader,
  Stack,
  Text,
  Title,
} from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import { IconAlertTriangle } from "@tabler/icons-react";
import { type ReactNode, useEffect } from "react";

import { type ApiProblem, AWAY } from "../api/client";
import { useTexts } from "../i18n";
import { Code } from "./code";
import { AnyText } from "./text";
import { texts } from "./texts";

/** A screen: its title, what can be done, its content. `name` stands in the browser's tab. */
export function Screen({
  title,
  name,
  about,
  actions,
  children,
}: {
  title: ReactNode;
  name: string;
  about?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}) {
  useEffect(() => {
    document.title = `${name} · accordance`;
  }, [name]);
  return (
    <Stack gap="lg">
      <Group justify="space-between" align="flex-start" gap="md">
        <div style={{ minWidth: 0, flex: "1 1 280px" }}>
          <Title order={1} fz={24} lh={1.25} style={{ letterSpacing: "-0.015em" }}>
            {title}
          </Title>
          {about && (
            <Text c="dimmed" size="sm" mt={4} component="div">
              {about}
            </Text>
          )}
        </div>
        {actions && <Group gap="xs">{actions}</Group>}
      </Group>
      {children}
    </Stack>
  );
}

/** Nothing is here yet: why, and the command that changes it. */
export function EmptyState({
  title,
  children,
  command,
}: {
  title: string;
  children?: ReactNode;
  command?: string;
}) {
  const t = useTexts(texts);
  return (
    <Stack className="card" p="xl" align="center" gap="sm" ta="center" data-empty>
      <Title order={2} fz={18}>
        {title}
      </Title>
      {children && (
        <Text c="dimmed" maw={520} component="div">
          {children}
        </Text>
      )}
      {command && (
        <Stack gap={6} w="100%" maw={620} ta="left" mt="xs">
          <Text size="xs" c="dimmed">
            {t.typeThis}
          </Text>
          <Code text={command} label={t.typeThis} />
        </Stack>
      )}
    </Stack>
  );
}

/** What went wrong, its code, and the way out. */
export function ErrorPanel({ error, onRetry }: { error: ApiProblem; onRetry?: () => void }) {
  const t = useTexts(texts);
  const isAway = error.code === AWAY;
  const detail = isAway ? t.away : error.detail;
  const wayOut = isAway ? t.awayWayOut : error.wayOut;
  return (
    <Alert
      color="red"
      variant="light"
      radius="lg"
      icon={<IconAlertTriangle size={18} />}
      title={<AnyText>{detail}</AnyText>}
      role="alert"
    >
      <Stack gap="xs" align="flex-start">
        {wayOut && (
          <Text size="sm">
            <b>{t.wayOut}:</b> <AnyText>{wayOut}</AnyText>
          </Text>
        )}
        <Group gap="xs">
          <InlineCode>{error.code}</InlineCode>
          {onRetry && (
            <Button size="compact-sm" variant="light" color="red" onClick={onRetry}>
              {t.retry}
            </Button>
          )}
        </Group>
      </Stack>
    </Alert>
  );
}

export function Loading() {
  const t = useTexts(texts);
  return (
    <Group justify="center" p="xl" role="status" aria-label={t.loading}>
      <Loader type="dots" />
    </Group>
  );
}

interface Readable {
  readonly data?: unknown;
  readonly error: ApiProblem | null;
  readonly refetch: () => unknown;
}

/** Shows a query: while it loads, when it fails, and then what it has read. */
export function Shown<Q extends Readable>({
  query,
  children,
}: {
  query: Q;
  children: (data: NonNullable<Q["data"]>) => ReactNode;
}) {
  if (query.data !== undefined && query.data !== null)
    return <>{children(query.data as NonNullable<Q["data"]>)}</>;
  if (query.error) return <ErrorPanel error={query.error} onRetry={() => void query.refetch()} />;
  return <Loading />;
}

/** The button below a list that has more. */
export function MoreButton({
  list,
}: {
  list: { hasMore: boolean; isFetchingNextPage: boolean; more: () => unknown };
}) {
  const t = useTexts(texts);
  if (!list.hasMore) return null;
  return (
    <Group justify="center">
      <Button variant="default" loading={list.isFetchingNextPage} onClick={() => void list.more()}>
        {t.more}
      </Button>
    </Group>
  );
}

/** A list with the details of what is selected: beside it, or over it on a phone. */
export function SplitView({
  children,
  side,
  label,
  onClose,
}: {
  children: ReactNode;
  side: ReactNode;
  label: string;
  onClose: () => void;
}) {
  const t = useTexts(texts);
  const isNarrow = useMediaQuery("(max-width: 1100px)", false, { getInitialValueInEffect: false });
  if (isNarrow) {
    return (
      <>
        {children}
        <Drawer
          opened={Boolean(side)}
          onClose={onClose}
          position="bottom"
          size="85%"
          title={label}
          closeButtonProps={{ "aria-label": t.close }}
        >
          {side}
        </Drawer>
      </>
    );
  }
  return (
    <div style={{ display: "flex", gap: 20, alignItems: "flex-start" }}>
      <div style={{ flex: "1 1 0", minWidth: 0 }}>{children}</div>
      {side && (
        <aside
          aria-label={label}
          className="card"
          style={{
            flex: "0 0 400px",
            position: "sticky",
            top: 20,
            maxHeight: "calc(100vh - 40px)",
            overflow: "auto",
            padding: 20,
          }}
        >
          {side}
        </aside>
      )}
    </div>
  );
}
