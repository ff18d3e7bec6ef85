import { describe, expect, it } from "vitest";
import { bareServer } from "../../test/support/api-server.js";
import { mcpGroup, workerGroup } from "../cli/server/server-groups.js";
import type { PoolDesk } from "../fleet/desk/pool-desk.js";
import { OPERATIONS } from "../operations/operations.js";
import { openApiDocument } from "./openapi.js";

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required: boolean;
  readonly description?: string;
}

interface Described {
  readonly operationId: string;
  readonly summary?: string;
  readonly description?: string;
  readonly parameters: readonly Parameter[];
  readonly requestBody?: { content: { "application/json": { schema: { properties: object } } } };
  readonly responses: { readonly [status: string]: object };
}

interface Document {
  readonly openapi: string;
  readonly paths: { readonly [path: string]: { readonly [method: string]: Described } };
  readonly components: object;
}

async function readDocument(): Promise<Document> {
  const { app } = await bareServer();
  const answer = await app.inject({ url: "/api/v1/openapi.json", headers: { host: "anything.example" } });
  expect(answer.statusCode).toBe(200);
  return answer.json<Document>();
}

describe("the OpenAPI document", () => {
  it("describes every operation where it is, with every field of its input in its place", async () => {
    const document = await readDocument();
    expect(document.openapi).toBe("3.1.0");
    for (const { name, rest, input, stream } of OPERATIONS) {
      const described = document.paths[`/api/v1${rest.path}`]?.[rest.method.toLowerCase()];
      expect(described?.operationId, name).toBe(name);
      const fields = described!.parameters.filter((parameter) => parameter.in !== "header");
      const inBody = Object.keys(described!.requestBody?.content["application/json"].schema.properties ?? {});
      const own = [...fields.map((parameter) => parameter.name), ...inBody].filter(
        (field) => field !== "follow",
      );
      expect(own.toSorted(), name).toEqual(Object.keys(input.shape).toSorted());
      expect(
        fields.some((parameter) => parameter.name === "follow"),
        name,
      ).toBe(stream !== undefined);
      expect(described!.responses[rest.status ?? 200], name).toBeDefined();
      expect(document.paths[rest.path] !== undefined, name).toBe(rest.unprefixed === true);
    }
  });

  it("says of every route and every parameter what it is, those for workers and MCP clients too", async () => {
    const groups = [mcpGroup(() => ({}) as never, ""), workerGroup({} as PoolDesk)];
    const { paths } = openApiDocument(OPERATIONS, groups) as Document;
    const routes = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, route]) => ({ name: `${method} ${path}`, ...route })),
    );
    expect(routes.map(({ name }) => name)).toEqual(
      expect.arrayContaining(["get /metrics", "post /mcp", "put /api/v1/workers/{id}/logs"]),
    );
    for (const { name, summary, description, parameters = [] } of routes) {
      expect(summary ?? "", name).toMatch(/./);
      expect(description ?? "", name).toMatch(/\.$/);
      for (const parameter of parameters)
        expect(parameter.description ?? "", `${name} ${parameter.name}`).toMatch(/./);
    }
  });

  it("refers only to what it has, and gives each operation one name", async () => {
    const document = await readDocument();
    const text = JSON.stringify(document);
    for (const [, pointer] of text.matchAll(/"\$ref":"#\/([^"]+)"/g)) {
      const found = pointer!
        .split("/")
        .reduce<unknown>((at, key) => (at as Record<string, unknown>)?.[key], document);
      expect(found, pointer).toBeDefined();
    }
    const names = [...text.matchAll(/"operationId":"(\w+)"/g)].map((match) => match[1]);
    expect(new Set(names).size).toBe(names.length);
  });

  it("is shown by a page that loads nothing from elsewhere and runs no script of its own text", async () => {
    const { app } = await bareServer();
    const page = await app.inject({ url: "/api/v1/docs", headers: { host: "anything.example" } });
    expect(page.headers["content-type"]).toContain("text/html");
    const loaded = [...page.body.matchAll(/(?:src|href)="([^"]+)"/g)].map((match) => match[1]!);
    expect(loaded.length).toBeGreaterThan(2);
    for (const url of loaded) {
      expect(url.startsWith("/api/v1/")).toBe(true);
      expect((await app.inject({ url, headers: { host: "anything.example" } })).statusCode, url).toBe(200);
    }
    expect(page.body).not.toMatch(/<script>|<style>| on\w+=|style="/);
    const script = await app.inject({ url: "/api/v1/docs/script.js", headers: { host: "anything.example" } });
    expect(script.body).not.toMatch(/innerHTML|eval\(|https?:/);
    // A syntax check of the script.
    expect(() => new Function(script.body)).not.toThrow();
  });
});
