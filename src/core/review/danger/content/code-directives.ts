import { addedLines } from "../added-lines.ts";
import { foldedName } from "../fold-path.ts";
import { quoted } from "../sentence.ts";
import { type ContentRule, lineDangers } from "./content-rule.ts";

interface Directive {
  readonly files: RegExp;
  /** Cheap and global over the text; lines are looked at one by one only where it matches. */
  readonly pattern: RegExp;
  /** Only in the first lines, where interpreters look for it. */
  readonly isHeader?: true;
  readonly effect: string;
}

const c = /\.(?:c|h|cc|cpp|cxx|hh|hpp|hxx|inl|m|mm|cu)$/;
const jvm = /\.(?:java|kts?|scala|groovy)$/;

const directives: readonly Directive[] = [
  { files: /\.go$/, pattern: /^\s*\/\/go:generate\s+\S.*/, effect: "go generate runs this command" },
  {
    files: /\.go$/,
    pattern: /^\s*(?:\/\/|\*)?\s*#cgo\s.*/,
    effect: "the Go compiler passes these options to the C compiler and linker",
  },
  {
    files: /\.go$/,
    pattern: /^(?:import\s+|\s*)"C"\s*$/,
    effect: "C code in the comment above is compiled and linked at the next build",
  },
  {
    files: /\.go$/,
    pattern: /^\/\/go:(?:linkname|cgo_\w+|debug)\s.*/,
    effect: "it reaches past what the Go compiler checks",
  },
  {
    files: /\.go$/,
    pattern: /^\/\/(?:go:build|\s*\+build)\s.*\bmage\b.*/,
    effect: "mage runs the functions of this file as commands",
  },
  {
    files: /\.rs$/,
    pattern: /#!?\[\s*path\s*=.*/,
    effect: "the module's source is another file than its name says",
  },
  { files: /\.rs$/, pattern: /\binclude!\s*[([{].*/, effect: "another file is compiled as if it stood here" },
  {
    files: /\.rs$/,
    pattern: /#\[\s*proc_macro(?:_derive|_attribute)?\b.*/,
    effect: "the compiler runs this function at every build and in editors",
  },
  {
    files: /\.rs$/,
    pattern: /#\[\s*(?:link_section|ctor|ctor::ctor|global_allocator|panic_handler)\b.*/,
    effect: "it runs before or around main without being called",
  },
  {
    files: c,
    pattern: /\.incbin\b.*|#\s*embed\b.*/,
    effect: "the compiler puts another file into the program",
  },
  {
    files: c,
    pattern: /#\s*include\s*["<](?:\/|[a-z]:|\\).*/i,
    effect: "the compiler reads a file outside the project",
  },
  {
    files: c,
    pattern:
      /__attribute__\s*\(\(.*\b(?:constructor|destructor)\b.*|#\s*pragma\s+(?:comment|init_seg|GCC\s+(?:plugin|poison)).*/,
    effect: "it runs before main, or changes what is linked",
  },
  {
    files: c,
    pattern: /\?\?[=/'()!<>-].*/,
    effect: "a trigraph stands for another character: the line reads otherwise than it compiles",
  },
  {
    files: jvm,
    pattern: /\\u+00(?:0[adAD]|2[27aAfF]|3[bB]|5[cC]|7[bBdD]).*/,
    effect:
      "an escape stands for the end of a line, a quote or a brace: what looks like a comment can be code",
  },
  {
    files: jvm,
    pattern: /@AutoService\b.*|\bextends\s+AbstractProcessor\b.*/,
    effect: "the compiler runs the class while it compiles",
  },
  {
    files: /\.(?:cs|fs|csx|fsx)$/,
    pattern: /\[\s*ModuleInitializer\s*\].*|^\s*#(?:r|load)\s+".*/,
    effect: "it runs when the program is loaded, or loads another",
  },
  {
    files: /\.hs$/,
    pattern: /\{-#\s*(?:OPTIONS_GHC\b.*(?:-F\b|-pgm|-fplugin|-cpp).*|LANGUAGE\b.*\bTemplateHaskell\b.*)/,
    effect: "the compiler runs code or another program while it compiles",
  },
  {
    files: /\.(?:nim|nims)$/,
    pattern: /\b(?:staticExec|gorge|gorgeEx)\b.*/,
    effect: "the compiler runs a command",
  },
  {
    files: /\.d$/,
    pattern: /\bmixin\s*\(\s*import\b.*/,
    effect: "the compiler takes code from another file",
  },
  {
    files: /\.(?:tex|sty|cls)$/,
    pattern: /\\(?:immediate\s*)?write18\b.*|\\directlua\b.*/,
    effect: "it runs a command when the document is set",
  },
  {
    files: /\.erl$/,
    pattern: /^-compile\(\{?parse_transform.*/,
    effect: "the compiler runs another module while it compiles",
  },
  {
    files: /\.php$/,
    pattern: /\bdeclare\s*\(\s*encoding\s*=.*|__halt_compiler\s*\(.*/i,
    effect: "the rest of the file is read in another way than it looks",
  },
  {
    files: /\.pyw?$/,
    pattern: /^[ \t\f]*#.*?coding[:=]\s*(?!utf-?8\b|ascii\b|us-ascii\b|latin-?1\b|iso-8859-\d+\b)[\w.-]+.*/i,
    isHeader: true,
    effect: "Python reads the file in this encoding, in which comments can be code",
  },
  {
    files: /\.(?:rb|rake|gemspec)$/,
    pattern: /^#.*?coding[:=]\s*(?!utf-?8\b|ascii\b|us-ascii\b|binary\b|ascii-8bit\b)[\w.-]+.*/i,
    isHeader: true,
    effect: "Ruby reads the file in this encoding, in which comments can be code",
  },
  {
    files: /\.pl$|\.pm$/,
    pattern: /^\s*(?:use\s+encoding\b|use\s+Filter::|no\s+utf8\b).*/,
    effect: "Perl changes the source before it runs it",
  },
  {
    files: /\.svg$/,
    pattern: /<script\b.*|\son[a-z]+\s*=\s*["'].*|javascript:.*|<foreignobject\b.*/i,
    effect: "it runs when the picture is opened in a browser",
  },
  {
    files: /./,
    pattern: /-\*-.*\beval\s*:.*-\*-|^\W{0,10}eval:\s*\(.*/,
    effect: "Emacs runs it when the file is opened",
  },
  {
    files: /./,
    pattern:
      /\b(?:vim?|ex):.*\b(?:fde|foldexpr|inde|indentexpr|fex|formatexpr|inex|includeexpr|stl|statusline|makeprg|mp|kp|keywordprg)\s*=.*/,
    effect: "Vim evaluates it when the file is opened",
  },
];

const headerLines = 2;
const maxLineChars = 10_000;

const rulesFor = (path: string): readonly Directive[] => {
  const name = foldedName(path);
  return directives.filter(({ files }) => files.test(name));
};

/** Multi-line copies: the caret of a line, in a text. */
const inText = new Map(
  directives.map(({ pattern }) => [pattern, new RegExp(pattern.source, `m${pattern.flags}`)]),
);

/** Added lines of source that a compiler, a generator, an interpreter or an editor takes for an order. */
export const codeDirectives: ContentRule = {
  mayFind: (path, text) => rulesFor(path).some(({ pattern }) => inText.get(pattern)!.test(text)),
  find(path, old, text) {
    const rules = rulesFor(path);
    const isAdded = addedLines(old, text);
    const found: { line: number; why: string }[] = [];
    text.split("\n").forEach((full, at) => {
      if (!isAdded(at + 1)) return;
      const line = full.slice(0, maxLineChars);
      const rule = rules.find(
        ({ pattern, isHeader }) => (isHeader !== true || at < headerLines) && pattern.test(line),
      );
      if (rule)
        found.push({
          line: at + 1,
          why: `The line ${quoted(line.trim())} is an order to a tool: ${rule.effect}.`,
        });
    });
    return lineDangers({ kind: "code_directive", path, found, noun: "such line" });
  },
};
