/** The frame of every screen: the navigation, the state of the connection, the content. */
import { ActionIcon, Burger, Drawer, Group, Text } from "@mantine/core";
import { useMantineColorScheme } from "@mantine/core";
import {
  IconCommand,
  IconLanguage,
  IconLogout,
  IconMoon,
  IconSun,
  IconSunMoon,
  IconUser,
} from "@tabler/icons-react";
import { useQueryClient } from "@tanstack/react-query";
import { Suspense, useEffect, useState } from "react";
import { NavLink, Outlet, useLocation } from "react-router";

import { post } from "../api/client";
import { useConnection } from "../api/live";
import { useRead } from "../api/queries";
import { type Language, LANGUAGES, useLanguage, useTexts } from "../i18n";
import { AnyText, Key, Loading, Menu, tellProblem } from "../kit";
import { useOpenCommands } from "./commands";
import { Logo } from "./Logo";
import { PLACES } from "./screens";
import { useCaller, useMay } from "./session";
import { texts } from "./texts";

export function Shell() {
  const t = useTexts(texts);
  const [isOpen, setOpen] = useState(false);
  const { pathname } = useLocation();
  const connection = useConnection();
  useEffect(() => setOpen(false), [pathname]);
  return (
    <>
      <a className="skip-link" href="#content">
        {t.skip}
      </a>
      <div className="shell">
        <div className="shell-bar">
          <Burger opened={isOpen} onClick={() => setOpen(!isOpen)} size="sm" aria-label={t.menu} />
          <Logo />
        </div>
        <div className="shell-side">
          <Side />
        </div>
        <Drawer
          opened={isOpen}
          onClose={() => setOpen(false)}
          size={280}
          padding="md"
          title={<Logo />}
        >
          <Side withoutLogo />
        </Drawer>
        <main id="content" className="shell-main" tabIndex={-1}>
          {connection === "away" && (
            <div role="status" className="away">
              {t.away}
            </div>
          )}
          <Suspense fallback={<Loading />}>
            <Outlet />
          </Suspense>
        </main>
      </div>
    </>
  );
}

function Side({ withoutLogo = false }: { withoutLogo?: boolean }) {
  const t = useTexts(texts);
  const caller = useCaller();
  const { open } = useOpenCommands();
  return (
    <div className="side">
      {!withoutLogo && (
        <div style={{ padding: "4px 10px 18px" }}>
          <Logo />
        </div>
      )}
      <button type="button" className="search-button" onClick={open}>
        <IconCommand size={15} aria-hidden />
        <span style={{ flex: 1, textAlign: "start" }}>{t.commandsShort}</span>
        <Key>Ctrl-K</Key>
      </button>
      <nav aria-label={t.navigation} style={{ display: "grid", gap: 2 }}>
        {PLACES.filter(({ right }) => caller.rights.includes(right)).map(
          ({ path, name, icon: Icon }) => (
            <NavLink key={path} to={path} className="nav-link">
              <Icon size={18} stroke={1.7} aria-hidden />
              <span style={{ flex: 1 }}>{t[name] as string}</span>
              {path === "/inbox" && <InboxCount />}
            </NavLink>
          ),
        )}
      </nav>
      <div style={{ flex: 1 }} />
      <Foot />
    </div>
  );
}

function InboxCount() {
  const t = useTexts(texts);
  const mayRead = useMay("read");
  const waiting = useRead("/v1/inbox", { query: { limit: 100 } }, { enabled: mayRead });
  const count = waiting.data?.items.length ?? 0;
  if (count === 0) return null;
  const shown = waiting.data?.next ? `${count}+` : String(count);
  return (
    <span className="count" aria-label={t.waiting(count)}>
      {shown}
    </span>
  );
}

function Foot() {
  const t = useTexts(texts);
  const caller = useCaller();
  const client = useQueryClient();
  const connection = useConnection();
  const { language, choose } = useLanguage();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const logout = () => {
    post("/auth/logout", {}).then(() => client.resetQueries(), tellProblem);
  };
  const words = { live: t.live, away: t.offline, connecting: t.connecting }[connection];
  const ThemeIcon = { light: IconSun, dark: IconMoon, auto: IconSunMoon }[colorScheme];
  return (
    <div
      style={{
        padding: "12px 10px 4px",
        borderTop: "1px solid var(--line)",
        display: "grid",
        gap: 8,
      }}
    >
      <Group gap={8} wrap="nowrap">
        <span className="pulse" data-connection={connection} aria-hidden />
        <Text size="xs" c="dimmed" style={{ flex: 1, minWidth: 0 }}>
          {words} ·{" "}
          <AnyText oneLine style={{ maxWidth: 110 }}>
            {caller.project}
          </AnyText>
        </Text>
      </Group>
      <Group gap={4} justify="space-between" wrap="nowrap">
        <Menu position="top-start">
          <Menu.Target>
            <button type="button" className="who">
              <IconUser size={15} aria-hidden />
              <AnyText oneLine style={{ maxWidth: 84 }}>
                {caller.name}
              </AnyText>
            </button>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Label>{caller.role}</Menu.Label>
            <Menu.Item leftSection={<IconLogout size={15} />} onClick={logout}>
              {t.logout}
            </Menu.Item>
          </Menu.Dropdown>
        </Menu>
        <Group gap={2} wrap="nowrap">
          <Menu position="top-end">
            <Menu.Target>
              <ActionIcon variant="subtle" color="gray" aria-label={t.theme}>
                <ThemeIcon size={17} />
              </ActionIcon>
            </Menu.Target>
            <Menu.Dropdown>
              {(["light", "dark", "auto"] as const).map((scheme) => (
                <Menu.Item
                  key={scheme}
                  onClick={() => setColorScheme(scheme)}
                  aria-current={scheme === colorScheme}
                >
                  {t[scheme]}
                </Menu.Item>
              ))}
            </Menu.Dropdown>
          </Menu>
          <Menu position="top-end">
            <Menu.Target>
              <ActionIcon variant="subtle" color="gray" aria-label={t.language}>
                <IconLanguage size={17} />
              </ActionIcon>
            </Menu.Target>
            <Menu.Dropdown>
              {(Object.keys(LANGUAGES) as Language[]).map((each) => (
                <Menu.Item
                  key={each}
                  lang={each}
                  onClick={() => choose(each)}
                  aria-current={each === language}
                >
                  {LANGUAGES[each]}
                </Menu.Item>
              ))}
            </Menu.Dropdown>
          </Menu>
        </Group>
      </Group>
    </div>
  );
}
