import { expect, test } from 'vitest'
import type { JsonObject } from 'fhir-ops/internal/json'
import { findingsOf } from './findings-of.js'

const DIV = 'Patient.text.div'
const told = (content: string): JsonObject => ({
  resourceType: 'Patient',
  text: { status: 'generated', div: `<div xmlns="http://www.w3.org/1999/xhtml">${content}</div>` },
})

test.each<readonly [content: string, said: readonly string[]]>([
  ['<p>x</p>', []],
  ['<form>x</form>', [`error invariant ${DIV}`, `error narrative ${DIV}`]],
  ['<p onclick="x()">x</p>', [`error invariant ${DIV}`, `error narrative ${DIV}`]],
  ['<p>x &unknown;</p>', [`error narrative ${DIV}`]],
  ['<a href="javascript:x">x</a>', [`error narrative ${DIV}`]],
  ['<a href="#none">x</a>', [`error narrative ${DIV}`]],
  ['<img src="#none" alt="x"/>', [`warning narrative ${DIV}`]],
  ['<p id="a">x</p><img src="#a" alt="x"/>', []],
  ['<p>x <b><table><tr><td>y</td></tr></table></b></p>', [`error narrative ${DIV}`]],
  ['<p>x</p><table><tr><td><p>y</p></td></tr></table>', []],
  ['<div lang="de" xml:lang="de">x</div><div lang="en" xml:lang="en">y</div>', []],
  ['<div lang="de" xml:lang="de">x</div>y', [`warning narrative-language ${DIV}`]],
])('a narrative with %s', async (content, said) => {
  expect(await findingsOf(told(content), [], /^(narrative|invariant)/)).toEqual(said)
})

test.each<readonly [attributes: string, said: readonly string[]]>([
  ['lang="en" xml:lang="en"', []],
  ['', ['warning narrative-language Patient']],
  ['lang="en"', ['warning narrative-language Patient']],
  ['lang="de" xml:lang="en"', ['warning narrative-language Patient']],
])('a narrative with the languages %j, of a resource in English', async (attributes, said) => {
  const div = `<div xmlns="http://www.w3.org/1999/xhtml" ${attributes}>x</div>`
  const resource = { resourceType: 'Patient', language: 'en', text: { status: 'generated', div } }
  expect(await findingsOf(resource, [], /^narrative/)).toEqual(said)
})
