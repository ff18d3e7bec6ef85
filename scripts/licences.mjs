// The licences of packages whose code is within what is built: those of the command line and of the page.
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

const MIT = `Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
documentation files (the "Software"), to deal in the Software without restriction, including without limitation the
rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit
persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the
Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR
OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.`;

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
  return licences.map(({ title, text }) => `${title}\n\n${text}\n`).join("\n");
}

/** Each text once, below the packages that have it: many differ in nothing but the package. */
export function licenceTextOnce(licences) {
  const titles = new Map();
  for (const { title, text } of licences) titles.set(text, [...(titles.get(text) ?? []), title]);
  return [...titles].map(([text, names]) => `${names.join("\n")}\n\n${text}\n`).join("\n");
}

function licenceOf(folder) {
  const { name, version, license, author } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const file = readdirSync(folder).find((entry) => /^licen[cs]e(\W|$)/i.test(entry));
  const text =
    file === undefined ? usualText(license, author) : readFileSync(join(folder, file), "utf8").trim();
  if (text === "")
    throw new Error(`${name} brings no text of its licence, ${license}: add it to scripts/licences.mjs`);
  return { title: `${name} ${version} (${license})`, text };
}

/** Of a package that names its licence and its author, and brings no text; empty where that is not enough. */
function usualText(license, author) {
  const holder = typeof author === "string" ? author.replace(/\s*[<(].*$/, "") : author?.name;
  return license === "MIT" && holder ? `Copyright (c) ${holder}\n\n${MIT}` : "";
}
