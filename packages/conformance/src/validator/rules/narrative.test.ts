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
  ['<table bgcolor="red"><tr><td bgcolor="red">x</td></tr></table>', []],
  ['<p bgcolor="red">x</p>', [`error invariant ${DIV}`, `error narrative ${DIV}`]],
  ['<form>x</form>', [`error invariant ${DIV}`, `error narrative ${DIV}`]],
  ['<p onclick="x()">x</p>', [`error invariant ${DIV}`, `error narrative ${DIV}`]],
  ['<p>x &unknown;</p>', [`error narrative ${DIV}`]],
  ['<a href="javascript:x">x</a>', [`error narrative ${DIV}`]],
  ['<a href="#none">x</a>', [`error narrative ${DIV}`]],
  ['<img src="#none" alt="x"/>', [`warning narrative ${DIV}`]],
  ['<p id="a">x</p><img src="#a" alt="x"/>', []],
  ['<p>x <b><table><tr><td>y</td></tr></table></b></p>', [`error narrative ${DIV}`, `error narrative-structure ${DIV}`]],
  [' <p> \n </p>', [`error invariant ${DIV}`]],
  ['<br/>', [`error invariant ${DIV}`]],
  ['<p id="a"><img src="#a" alt="x"/></p>', []],
  ['&#160;', []],
  ['&nbsp;', [`error narrative ${DIV}`]],
  ['<p>a\u202Eb</p>', [`warning string-control ${DIV}`]],
  ['<p>a&#x202E;b</p>', [`warning string-control ${DIV}`]],
  ['<p>a&#8295;b&#8236;</p>', [`warning string-control ${DIV}`]],
  ['<p title="a\u2067b">c</p>', [`warning string-control ${DIV}`]],
  ['<p>a\u202Eb\u202C</p>', []],
  ['<p>a&#8238;b</p><p>c&#x202c;</p>', []],
  ['<p id="a">x</p><p id="a">y</p>', [`warning narrative-ids ${DIV}`]],
  ['<p id="a">x</p><a name="a">y</a>', [`warning narrative-ids ${DIV}`]],
  ['<a id="a" name="a">y</a>', []],
  ['<p id="a">x</p><p id="a">y</p><a href="#a">z</a>', [`warning narrative-ids ${DIV}`, `warning narrative ${DIV}`]],
  ['<p id="a">x</p><p id="a">y</p><img src="#a" alt="x"/>', [`warning narrative-ids ${DIV}`, `error narrative ${DIV}`]],
  ['<a href="">x</a>', [`error narrative ${DIV}`]],
  ['<a name="b">x</a>', []],
  ['<a href="http://a.org/b c">x</a>', [`error narrative ${DIV}`]],
  ['<a href="http://a.org/%20?x=[1]&amp;y=1|2#é">x</a>', []],
  ['<img src="a{1}.png" alt="x"/>', [`error narrative ${DIV}`]],
  ['<img src="data:image/png;base64,AAAA" alt="x"/>', []],
  ['<img src="data:image/png;base64,A!" alt="x"/>', [`error narrative ${DIV}`]],
  ['<img src="data:image/png;base64" alt="x"/>', [`error narrative ${DIV}`]],
  ['<img src="data:png;base64,AAAA" alt="x"/>', [`error narrative ${DIV}`]],
  ['<a href="cid:x">x</a>', [`error narrative ${DIV}`]],
  ['<a href="sftp://a.org">x</a>', [`information narrative ${DIV}`]],
  ['<li>x</li>', [`error narrative-structure ${DIV}`]],
  ['<ul><li>x</li></ul><ol><li>y</li></ol><dl><dt>a</dt><dd><ul><li>b</li></ul></dd></dl>', []],
  ['<ul>x</ul>', [`error narrative-structure ${DIV}`]],
  ['<table><tr>x</tr></table>', [`error narrative-structure ${DIV}`]],
  ['<table><colgroup><col/></colgroup><thead><tr><th>x</th></tr></thead></table>', []],
  ['<table><td>x</td></table>', [`error narrative-structure ${DIV}`, `error narrative-structure ${DIV}`]],
  ['<tr><td>x</td></tr>', [`error narrative-structure ${DIV}`]],
  ['<a href="http://a.org">x <a href="http://b.org">y</a></a>', [`error narrative-structure ${DIV}`]],
  ['<b><i>x</i></b><span><span>y</span></span>', []],
  ['<br>x</br>', [`error narrative-structure ${DIV}`]],
  ['<h1><div>x</div></h1>', [`error narrative-structure ${DIV}`]],
  ['<?php x ?>y', [`error narrative-structure ${DIV}`]],
  ['<p xmlns="http://www.w3.org/1999/xhtml">x</p>', []],
  ['<p xmlns="http://a.org">x</p>', [`error narrative ${DIV}`]],
  ['<p>x</p><table><tr><td><p>y</p></td></tr></table>', []],
  ['<div lang="de" xml:lang="de">x</div><div lang="en" xml:lang="en">y</div>', []],
  ['<div lang="de" xml:lang="de">x</div>y', [`warning narrative-language ${DIV}`]],
])('a narrative with %s', async (content, said) => {
  expect(await findingsOf(told(content), [], /^(narrative|invariant|string-control)/)).toEqual(said)
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
