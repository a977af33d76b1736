/** Requests to the server, typed by its OpenAPI document; refusals are `ApiProblem`s. */
import type { GetRoutes, PostRoutes, Problem } from "./schema.gen";

type Names<P extends string> = P extends `${string}{${infer N}}${infer Rest}`
  ? N | Names<Rest>
  : never;
type Params<P extends string> = [Names<P>] extends [never]
  ? { params?: undefined }
  : { params: Readonly<Record<Names<P>, string>> };

export type GetPath = keyof GetRoutes;
export type PostPath = keyof PostRoutes;
export type Answer<P extends GetPath> = GetRoutes[P]["answer"];
export type PostAnswer<P extends PostPath> = PostRoutes[P]["answer"];

export type GetOptions<P extends GetPath> = Params<P> & {
  query?: GetRoutes[P]["query"];
  signal?: AbortSignal;
};

export type PostOptions<P extends PostPath> = Params<P> & {
  query?: PostRoutes[P]["query"];
  body?: PostRoutes[P]["body"];
  contentType?: string; // of a body that is sent as it is
  ifMatch?: string;
  repeatKey?: string; // the same key again: the same answer, and nothing done twice
  signal?: AbortSignal;
};

/** The server refused, or cannot be reached (status 0). */
export class ApiProblem extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    readonly detail: string,
    readonly wayOut: string | null = null,
    readonly problem: Problem | null = null,
  ) {
    super(detail);
    this.name = "ApiProblem";
  }
}

export const AWAY = "server-away";

export async function get<P extends GetPath>(path: P, options: GetOptions<P>): Promise<Answer<P>> {
  const response = await send(urlOf(path, options.params, options.query), {
    ...(options.signal && { signal: options.signal }),
  });
  return (await read(response)) as Answer<P>;
}

export async function post<P extends PostPath>(
  path: P,
  options: PostOptions<P>,
): Promise<PostAnswer<P>> {
  const headers: Record<string, string> = {};
  const { body, contentType, ifMatch, signal } = options;
  const isRaw = typeof body === "string" || body instanceof Blob || body instanceof FormData;
  if (contentType) headers["Content-Type"] = contentType;
  else if (body !== undefined && !isRaw) headers["Content-Type"] = "application/json";
  if (ifMatch) headers["If-Match"] = ifMatch;
  if (!path.startsWith("/auth/")) headers["Idempotency-Key"] = options.repeatKey ?? newKey();
  const csrf = csrfToken();
  if (csrf) headers["X-CSRF-Token"] = csrf;
  const response = await send(urlOf(path, options.params, options.query), {
    method: "POST",
    headers,
    ...(body !== undefined && {
      body: isRaw ? (body as BodyInit) : JSON.stringify(body),
    }),
    ...(signal && { signal }),
  });
  return (await read(response)) as PostAnswer<P>;
}

/** The address of a route, for links that download. */
export function urlOf(
  path: string,
  params: Readonly<Record<string, string>> | undefined,
  query: object | undefined,
): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(params?.[name] ?? ""),
  );
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query ?? {})) {
    for (const each of Array.isArray(value) ? value : [value]) {
      if (each !== undefined && each !== null && each !== "") search.append(key, String(each));
    }
  }
  const text = search.toString();
  return text ? `${filled}?${text}` : filled;
}

export function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export function csrfToken(): string {
  const cookie = document.cookie.match(/(?:^|;\s*)accordance_csrf=([^;]+)/);
  return cookie?.[1] ?? "";
}

export async function send(url: string, init: RequestInit): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(url, { credentials: "same-origin", ...init });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new ApiProblem(0, AWAY, "the server does not answer");
  }
  if (!response.ok) throw await problemOf(response);
  return response;
}

async function read(response: Response): Promise<unknown> {
  if (response.status === 204) return undefined;
  const kind = response.headers.get("content-type") ?? "";
  return kind.includes("json") ? response.json() : response.text();
}

async function problemOf(response: Response): Promise<ApiProblem> {
  const { status } = response;
  const text = await response.text().catch(() => "");
  try {
    const problem = JSON.parse(text) as Problem;
    return new ApiProblem(status, problem.code, problem.detail, problem.way_out ?? null, problem);
  } catch {
    return new ApiProblem(status, `http-${status}`, response.statusText || `HTTP ${status}`);
  }
}
