// The licences of packages whose code is within what is built: those of the command line and of the page.
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

/** One entry for each package that one of these files belongs to, sorted by its folder. */
export function licencesOf(root, files) {
  const folders = new Set();
  for (const file of files) {
    const [folder] = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file) ?? [];
    if (folder !== undefined) folders.add(resolve(root, folder));
  }
  return [...folders].sort().map(licenceOf);
}

/** All of them, as people read them. */
export function licenceText(licences) {
  return licences.map(({ title, text }) => `${title}\n${text === "" ? "" : `\n${text}\n`}`).join("\n");
}

/** Each text once, below the packages that have it: many differ in nothing but the package. */
export function licenceTextOnce(licences) {
  const titles = new Map();
  for (const { title, text } of licences) titles.set(text, [...(titles.get(text) ?? []), title]);
  return [...titles].map(([text, names]) => `${names.join("\n")}\n\n${text}\n`).join("\n");
}

function licenceOf(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const file = readdirSync(folder).find((entry) => /^licen[cs]e(\W|$)/i.test(entry));
  const text = file === undefined ? "" : readFileSync(join(folder, file), "utf8").trim();
  return { title: `${name} ${version} (${license})`, text };
}
