/** Everything around the screens, from the outside in. */
import { createTheme, MantineProvider, mergeThemeOverrides } from "@mantine/core";
import { MutationCache, QueryCache, QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { Component, type ReactNode, useState } from "react";
import { BrowserRouter, Link, Navigate, Route, Routes } from "react-router";

import { ApiProblem } from "../api/client";
import { LiveProvider } from "../api/live";
import { keyOf } from "../api/queries";
import { firstLanguage, keepLanguage, LanguageContext, useTexts } from "../i18n";
import { EmptyState, KeyboardProvider, Notes, Screen } from "../kit";
import { theme } from "../theme";
import { CommandsProvider } from "./commands";
import { SCREENS } from "./screens";
import { Session } from "./session";
import { Shell } from "./Shell";
import { texts } from "./texts";

const whole = mergeThemeOverrides(theme, createTheme({}));

function newClient(): QueryClient {
  const watch = (error: unknown) => {
    if (error instanceof ApiProblem && error.status === 401) {
      void client.invalidateQueries({ queryKey: keyOf("/v1/me", {}) });
    }
  };
  const client: QueryClient = new QueryClient({
    queryCache: new QueryCache({
      onError: (error, query) => {
        if (query.queryKey[0] !== "/v1/me") watch(error);
      },
    }),
    mutationCache: new MutationCache({ onError: watch }),
    defaultOptions: {
      queries: {
        staleTime: 20_000,
        retry: (count, error) =>
          count < 2 && error instanceof ApiProblem && (error.status === 0 || error.status >= 500),
        networkMode: "always", // a server on loopback answers without a network
      },
      mutations: { networkMode: "always" },
    },
  });
  return client;
}

export function App({ nonce }: { nonce: string }) {
  const [client] = useState(newClient);
  const [language, setLanguage] = useState(firstLanguage);
  const choose = (wanted: typeof language) => {
    keepLanguage(wanted);
    setLanguage(wanted);
  };
  return (
    <LanguageContext value={{ language, choose }}>
      <MantineProvider
        theme={whole}
        defaultColorScheme="auto"
        {...(nonce && { getStyleNonce: () => nonce })}
      >
        <QueryClientProvider client={client}>
          <Fault>
            <Session>
              <LiveProvider>
                <BrowserRouter>
                  <KeyboardProvider>
                    <CommandsProvider>
                      <Routes>
                        <Route element={<Shell />}>
                          <Route index element={<Navigate to="/runs" replace />} />
                          {SCREENS.map(({ path, element: Element }) => (
                            <Route
                              key={path}
                              path={path}
                              element={
                                <Fault>
                                  <Element />
                                </Fault>
                              }
                            />
                          ))}
                          <Route path="*" element={<Nothing />} />
                        </Route>
                      </Routes>
                    </CommandsProvider>
                  </KeyboardProvider>
                </BrowserRouter>
              </LiveProvider>
            </Session>
          </Fault>
          <Notes />
        </QueryClientProvider>
      </MantineProvider>
    </LanguageContext>
  );
}

function Nothing() {
  const t = useTexts(texts);
  return (
    <Screen title={t.nothing} name={t.nothing}>
      <Link to="/runs">{t.home}</Link>
    </Screen>
  );
}

/** A fault of a screen leaves the rest of the page standing. */
class Fault extends Component<{ children: ReactNode }, { text: string | null }> {
  override state = { text: null };

  static getDerivedStateFromError(error: unknown) {
    return { text: String(error) };
  }

  override render() {
    return this.state.text === null ? this.props.children : <FaultShown text={this.state.text} />;
  }
}

function FaultShown({ text }: { text: string }) {
  const t = useTexts(texts);
  return (
    <EmptyState title={t.broken}>
      <p>{text}</p>
      <a href={location.href}>{t.reload}</a>
    </EmptyState>
  );
}
