/** Live events: one stream for the page; what an event touches is read again. */
import { type QueryClient, type QueryKey, useQueryClient } from "@tanstack/react-query";
import { createContext, type ReactNode, useContext, useEffect, useRef, useState } from "react";

import { ApiProblem, send } from "./client";
import { isLive } from "./queries";
import type { EventView } from "./schema.gen";

export type Connection = "connecting" | "live" | "away";
type Listener = (event: EventView) => void;

interface Live {
  readonly connection: Connection;
  readonly listeners: Set<Listener>;
}

const LiveContext = createContext<Live>({ connection: "connecting", listeners: new Set() });
const STREAM = "/v1/events/stream";
const SILENCE = 40_000; // the server sends a comment every 15 s
const FIRST_PAUSE = 500;
const LONGEST_PAUSE = 15_000;
const CALM = 300; // between two rounds of reading again

export function LiveProvider({ children }: { children: ReactNode }) {
  const client = useQueryClient();
  const [connection, setConnection] = useState<Connection>("connecting");
  const listeners = useRef(new Set<Listener>()).current;
  useEffect(() => {
    const stopping = new AbortController();
    const refresher = new Refresher(client);
    void follow(stopping.signal, setConnection, refresher, (event) => {
      refresher.add(event);
      for (const listener of listeners) listener(event);
    });
    return () => stopping.abort();
  }, [client, listeners]);
  return <LiveContext value={{ connection, listeners }}>{children}</LiveContext>;
}

export function useConnection(): Connection {
  return useContext(LiveContext).connection;
}

/** Call a function for every event while a component is shown. */
export function useEvents(listener: Listener): void {
  const { listeners } = useContext(LiveContext);
  const current = useRef(listener);
  current.current = listener;
  useEffect(() => {
    const listen: Listener = (event) => current.current(event);
    listeners.add(listen);
    return () => void listeners.delete(listen);
  }, [listeners]);
}

async function follow(
  stopping: AbortSignal,
  tell: (connection: Connection) => void,
  refresher: Refresher,
  receive: Listener,
): Promise<void> {
  let last: number | null = null;
  let pause = FIRST_PAUSE;
  let wasAway = false;
  while (!stopping.aborted) {
    const attempt = new AbortController();
    const abort = () => attempt.abort();
    stopping.addEventListener("abort", abort);
    try {
      const headers: HeadersInit = last === null ? {} : { "Last-Event-ID": String(last) };
      const response = await send(STREAM, { headers, signal: attempt.signal });
      tell("live");
      if (wasAway) refresher.addAll(); // what happened before the stream began is not in it
      wasAway = false;
      pause = FIRST_PAUSE;
      for await (const message of messagesOf(response, abort)) {
        if (message.kind === "reset") refresher.addAll();
        else if (message.kind !== "end" && message.data) {
          const event = JSON.parse(message.data) as EventView;
          last = event.number;
          receive(event);
        }
      }
    } catch (error) {
      if (stopping.aborted) return;
      if (error instanceof ApiProblem && [401, 403].includes(error.status)) {
        refresher.addWho();
        tell("connecting");
        pause = LONGEST_PAUSE;
      } else if (error instanceof ApiProblem) {
        tell("away");
        wasAway = true;
      }
    } finally {
      stopping.removeEventListener("abort", abort);
    }
    await sleep(pause * (0.75 + Math.random() / 2), stopping);
    pause = Math.min(pause * 2, LONGEST_PAUSE);
  }
}

interface Message {
  readonly kind: string;
  readonly data: string;
}

async function* messagesOf(response: Response, abort: () => void): AsyncGenerator<Message> {
  if (response.body === null) return;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let buffer = "";
  for (;;) {
    const timer = setTimeout(abort, SILENCE);
    const { done, value } = await reader.read().finally(() => clearTimeout(timer));
    if (done) return;
    buffer += value;
    const parts = buffer.split("\n\n");
    buffer = parts.pop() ?? "";
    for (const part of parts) yield messageOf(part);
  }
}

function messageOf(text: string): Message {
  let kind = "message";
  const data: string[] = [];
  for (const line of text.split("\n")) {
    if (line.startsWith("event: ")) kind = line.slice(7);
    else if (line.startsWith("data: ")) data.push(line.slice(6));
  }
  return { kind, data: data.join("\n") };
}

function sleep(milliseconds: number, stopping: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    stopping.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

/** Gathers what events touch, and lets it be read again at a calm pace. */
class Refresher {
  private plans = new Set<string>();
  private tasks = new Set<string>();
  private all = false;
  private who = false;
  private isBusy = false;

  constructor(private readonly client: QueryClient) {}

  add(event: EventView): void {
    if (event.plan_id) this.plans.add(event.plan_id);
    if (event.task_id) this.tasks.add(event.task_id);
    void this.run();
  }

  addAll(): void {
    this.all = true;
    void this.run();
  }

  addWho(): void {
    this.who = true;
    void this.run();
  }

  private async run(): Promise<void> {
    if (this.isBusy) return;
    this.isBusy = true;
    while (this.all || this.who || this.plans.size > 0 || this.tasks.size > 0) {
      await new Promise((resolve) => setTimeout(resolve, CALM));
      const { all, who, plans, tasks } = this;
      this.all = this.who = false;
      this.plans = new Set();
      this.tasks = new Set();
      const predicate = ({ queryKey }: { queryKey: QueryKey }) =>
        (who && queryKey[0] === "/v1/me") ||
        (isLive(queryKey) && (all || isTouched(queryKey, plans, tasks)));
      await this.client
        .invalidateQueries({ predicate }, { cancelRefetch: false })
        .catch(() => undefined);
    }
    this.isBusy = false;
  }
}

function isTouched(queryKey: QueryKey, plans: Set<string>, tasks: Set<string>): boolean {
  const params = (queryKey[1] ?? {}) as { plan?: string; task?: string };
  if (params.plan !== undefined) return plans.has(params.plan);
  if (params.task !== undefined) return tasks.has(params.task);
  return plans.size > 0 || tasks.size > 0;
}
