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
const documents = /\.(?:md|markdown|rst|txt|adoc|asciidoc)$/;
const jvm = /\.(?:java|kts?|scala|groovy)$/;

/**
 * SECURITY: the text is the box's. No pattern crosses a line, and what stands between two parts is bounded, so that no text
 * makes the search slow.
 */
const directives: readonly Directive[] = [
  {
    files: /\.(?:[cm]?[jt]sx?|vue|svelte)$/,
    pattern:
      /@(?:jest|vitest)-environment(?!-options)[ \t]{1,9}(?!(?:node|jsdom|happy-dom|edge-runtime)\b)\S/,
    effect: "the test runner loads this module before the test",
  },
  {
    files: /\.(?:[cm]?[jt]sx?|mdx)$/,
    pattern: /\b(?:from|import)[ \t]{0,20}\(?[ \t]{0,20}["'`](?:https?:|npm:|jsr:|data:)/,
    effect: "what it names is fetched, or is code itself, and runs",
  },
  {
    files: /\.(?:[cm]?[jt]sx?|mdx|vue|svelte)$/,
    pattern:
      /\b(?:from|import|require)[ \t]{0,20}\(?[ \t]{0,20}["'`][^"'`\n]{0,200}(?:!|[./]macro(?:\.[cm]?[jt]s)?["'`])|\btype["']?[ \t]{0,20}:[ \t]{0,20}["']macro["']|^[ \t]{0,40}(?:\/\/|\/?\*)[ \t]{0,20}@(?:preval|codegen)\b/,
    effect: "the bundler runs what it names while it builds",
  },
  {
    files: /\.(?:less|s?css|sass|vue|svelte|astro)$/,
    pattern: /@(?:plugin|config)[ \t]{1,20}(?:\([^)\n]{0,80}\)[ \t]{0,20})?["']/,
    effect: "the compiler of the style sheet runs it",
  },
  {
    files: /\.less$/,
    pattern: /@plugin\b|~?`[^`]{1,500}`/,
    effect: "the compiler of the style sheet runs it",
  },
  {
    files: /\.(?:ya?ml|json5?|csv|toml)$/,
    pattern: /<%[^%]/,
    effect: "Rails and other Ruby programs run what stands between such marks when they read the file",
  },
  {
    files: /\.(?:csv|tsv)$/,
    pattern:
      /(?:^|[,;\t"'])[ \t]{0,20}[=+@-](?:[^,;\n]{0,200}\|[^,;\n]{0,200}!|[ \t]{0,20}(?:cmd|dde|exec|call|register|hyperlink|webservice|import(?:xml|html|data|feed|range)|image|rtd)[ \t]{0,20}\()/i,
    effect: "a spreadsheet calculates it, and can run a program or fetch an address",
  },
  {
    files: /^test.*\.txt$/,
    pattern: /^[ \t]{0,40}>>>[ \t]/,
    effect: "pytest runs the examples of files of this name",
  },
  {
    files: /\.(?:s?html?|xhtml|php|tmpl)$/,
    pattern: /<!--#[ \t]{0,20}(?:exec|include|config|set)\b/i,
    effect: "a web server with server-side includes runs or reads what it names",
  },
  {
    files: /\.p(?:y|yx|xd)$/,
    pattern: /^#[ \t]{0,20}distutils[ \t]{0,20}:/,
    effect: "Cython passes it to the compiler and linker",
  },
  {
    files: /\.(?:groovy|java|kts?)$|^jenkinsfile/,
    pattern: /@(?:groovy\.transform\.)?ASTTest\b|\bGroovyASTTransformation\b/,
    effect: "the compiler runs it while it compiles",
  },
  {
    files: /\.(?:scala|sc)$/,
    pattern:
      /\bscala\.(?:quoted|reflect\.macros)\b|\binline[ \t]{1,20}def\b.{0,400}\$\{|=[ \t]{1,20}macro[ \t]/,
    effect: "the compiler runs the macro while it compiles",
  },
  {
    files: /\.mli?$/,
    pattern: /^[ \t]{0,40}#(?:require|load|load_rec|use|mod_use|directory)\b/,
    effect: "OCaml loads what it names when the file is run",
  },
  {
    files: /\.styl$/,
    pattern: /\buse[ \t]{0,20}\(/,
    effect: "the compiler of the style sheet runs this file",
  },
  {
    files: /\.(?:sql|psql)$/,
    pattern:
      /^[ \t]{0,40}\\(?:!|i|ir|include|copy|o|g)\b|^[ \t]{0,40}\\!|\bprogram[ \t]{1,20}'|^[ \t]{0,40}\.(?:shell|system|load|read|once|output)\b|\bload_extension[ \t]{0,20}\(/i,
    effect: "the database's client or server runs or loads it",
  },
  {
    files: /\.py$/,
    pattern: /^# \/\/\/ script[ \t]*$/,
    effect: "uv and pipx install what is listed below before they run the file",
  },
  {
    files: /\.(?:scala|sc|java|kts?)$/,
    pattern:
      /^\/\/>[ \t]{0,9}using\b|^\/\/(?:DEPS|REPOS|SOURCES|FILES|JAVAC_OPTIONS|JAVA_OPTIONS|JAVAAGENT|GAV|PREVIEW)\b|@file:[ \t]{0,9}(?:DependsOn|Repository|Import)\b|\bimport[ \t]{1,20}\$(?:ivy|file|url)\b/,
    effect: "what it names is fetched or added when the file is run by itself",
  },
  {
    files: /\.groovy$|^jenkinsfile/,
    pattern: /@Grab(?:Resolver|Config|Exclude)?\b|@Grapes\b/,
    effect: "Groovy fetches this package when the file is run",
  },
  { files: /\.exs?$/, pattern: /\bMix\.install\b/, effect: "Elixir fetches and compiles these packages" },
  {
    files: /\.rb$/,
    pattern: /\bbundler\/inline\b/,
    effect: "Bundler fetches and loads these packages when the file is run",
  },
  {
    files: /\.cs$/,
    pattern: /^#:[ \t]{0,9}(?:package|sdk|project|property)\b/,
    effect: "dotnet run fetches or obeys it",
  },
  {
    files: /\.swift$/,
    pattern: /#externalMacro\b/,
    effect: "the compiler runs the macro's program while it compiles",
  },
  {
    files: /\.cr$/,
    pattern: /\{[{%].{0,200}(?:`|\bsystem\b|\brun\b)/,
    effect: "the compiler runs it while it compiles",
  },
  {
    files: /\.rs$/,
    pattern:
      /\binclude_(?:str|bytes)[ \t]{0,20}![ \t]{0,20}[([{][ \t]{0,20}r?#{0,9}"(?:[\\/~]|[a-z]:|.{0,200}\.\.)/i,
    effect: "the compiler reads a file outside the crate into the program",
  },
  {
    files: /\.rs$/,
    pattern: /^---[ \t]{0,9}cargo\b/,
    effect: "Cargo takes packages and settings from the text below",
  },
  { files: /\.go$/, pattern: /^[ \t]*\/\/go:generate[ \t]/, effect: "go generate runs this command" },
  {
    files: /\.go$/,
    pattern: /^[ \t/*]{0,40}#cgo[ \t]/,
    effect: "the Go compiler passes these options to the C compiler and linker",
  },
  {
    files: /\.go$/,
    pattern: /^[ \t]{0,40}(?:import\b.{0,40})?["`]C["`]/,
    effect: "C code in the comment above is compiled and linked at the next build",
  },
  {
    files: /\.go$/,
    pattern: /^\/\/go:(?:linkname|cgo_\w{1,40}|debug)[ \t]/,
    effect: "it reaches past what the Go compiler checks",
  },
  {
    files: /\.go$/,
    pattern: /^\/\/(?:go:build|[ \t]?\+build)[ \t].{0,200}\bmage\b/,
    effect: "mage runs the functions of this file as commands",
  },
  {
    files: /\.rs$/,
    // Also inside cfg_attr, and where the attribute goes over several lines.
    pattern:
      /#[ \t]{0,20}!?[ \t]{0,20}\[(?:[^\]\n]{0,200}\bpath[ \t]{0,20}=|[ \t]{0,20}$)|^[ \t]{0,40}path[ \t]{0,20}=[ \t]{0,20}r?#{0,9}"/,
    effect: "the module's source is another file than its name says",
  },
  {
    files: /\.rs$/,
    pattern: /\binclude[ \t]{0,20}![ \t]{0,20}(?:[([{]|$)/,
    effect: "another file is compiled as if it stood here",
  },
  {
    files: /\.rs$/,
    pattern: /#\[[ \t]{0,20}proc_macro(?:_derive|_attribute)?\b/,
    effect: "the compiler runs this function at every build and in editors",
  },
  {
    files: /\.rs$/,
    pattern: /#\[[ \t]{0,20}(?:link_section|ctor|global_allocator|panic_handler)\b/,
    effect: "it runs before or around main without being called",
  },
  {
    files: c,
    pattern: /\.incbin\b|#[ \t]{0,20}embed\b/,
    effect: "the compiler puts another file into the program",
  },
  {
    files: c,
    pattern: /(?:#|%:)[ \t]{0,20}(?:include|import)(?:_next)?[ \t]{0,20}["<](?:\/|[a-z]:|\\|(?:\.\.\/){4})/i,
    effect: "the compiler reads a file outside the project",
  },
  {
    files: c,
    pattern:
      /\b__attribute(?:__)?[ \t]{0,20}\(.{0,200}\b(?:__)?(?:(?:con|de)structor|ifunc|section[ \t]{0,20}\(.{0,20}(?:init|fini|ctors|dtors))|\[\[.{0,200}\bgnu[ \t]{0,9}::[ \t]{0,9}(?:__)?(?:(?:con|de)structor|ifunc)|(?:(?:#|%:)[ \t]{0,20}|_)pragma[ \t"(]{1,20}(?:comment|init_seg|gcc[ \t]{1,9}plugin)|\.section[ \t]{1,9}["\\]{0,2}\.(?:init|fini|ctors|dtors|preinit)/i,
    effect: "it runs before main, or changes what is linked",
  },
  {
    files: c,
    pattern: /\?\?[=/'()!<>-]/,
    effect: "a trigraph stands for another character: the line reads otherwise than it compiles",
  },
  {
    files: jvm,
    pattern: /\\u{1,20}00(?:0[adAD]|2[27aAfF]|3[bB]|5[cC]|7[bBdD])/,
    effect:
      "an escape stands for the end of a line, a quote or a brace: what looks like a comment can be code",
  },
  {
    files: jvm,
    pattern: /@AutoService\b|\bextends[ \t]{1,20}AbstractProcessor\b/,
    effect: "the compiler runs the class while it compiles",
  },
  {
    files: /\.(?:cs|fs|csx|fsx)$/,
    pattern: /\[[ \t]{0,20}ModuleInitializer[ \t]{0,20}\]|^[ \t]{0,40}#(?:r|load)[ \t]{1,20}"/,
    effect: "it runs when the program is loaded, or loads another",
  },
  {
    files: /\.l?hs$/,
    pattern:
      // A pragma may go over several lines, in small letters, and its older name is taken as well.
      /\{-#[ \t]{0,20}OPTIONS(?:_GHC)?\b.{0,200}(?:-F\b|-cpp)|-pgm[a-z]{1,3}\b|-fplugin|\bTemplateHaskell\b/i,
    effect: "the compiler runs code or another program while it compiles",
  },
  {
    files: /\.nims?$/,
    pattern: /\b(?:staticExec|gorge|gorgeEx)\b|\{\.[ \t]{0,9}(?:pass[cl]|compile|link|emit)\b/i,
    effect: "the compiler runs a command",
  },
  {
    files: /\.d$/,
    pattern: /\bmixin[ \t]{0,20}\([ \t]{0,20}import\b/,
    effect: "the compiler takes code from another file",
  },
  {
    files: /\.(?:tex|sty|cls)$/,
    pattern: /\\write18\b|\\directlua\b/,
    effect: "it runs a command when the document is set",
  },
  {
    files: /\.erl$/,
    pattern: /^-compile\(\{?parse_transform/,
    effect: "the compiler runs another module while it compiles",
  },
  {
    files: /\.php$/,
    pattern: /\bdeclare[ \t]{0,20}\([ \t]{0,20}encoding[ \t]{0,20}=|__halt_compiler[ \t]{0,20}\(/i,
    effect: "the rest of the file is read in another way than it looks",
  },
  {
    files: /\.pyw?$/,
    pattern:
      /^[ \t\f]{0,40}#.{0,400}?coding[:=][ \t]{0,20}(?!utf-?8\b|ascii\b|us-ascii\b|latin-?1\b|iso-8859-\d{1,2}\b)[\w.-]/i,
    isHeader: true,
    effect: "Python reads the file in this encoding, in which comments can be code",
  },
  {
    files: /\.(?:rb|rake|gemspec)$/,
    pattern: /^#.{0,400}?coding[:=][ \t]{0,20}(?!utf-?8\b|ascii\b|us-ascii\b|binary\b|ascii-8bit\b)[\w.-]/i,
    isHeader: true,
    effect: "Ruby reads the file in this encoding, in which comments can be code",
  },
  {
    files: /\.p[lm]$/,
    pattern: /^[ \t]{0,40}(?:use[ \t]{1,20}encoding\b|use[ \t]{1,20}Filter::|no[ \t]{1,20}utf8\b)/,
    effect: "Perl changes the source before it runs it",
  },
  {
    files: /\.svg$/,
    pattern:
      /<(?:[\w-]{1,30}:)?(?:script|foreignobject|handler|iframe)\b|\bon[a-z]{2,30}[ \t]{0,20}(?:=|$)|javascript:|<!entity\b|attributename[ \t]{0,20}=[ \t]{0,20}["'](?:on|href|xlink:href)|\bhref[ \t]{0,20}=[ \t]{0,20}["'](?!#|data:image\/(?:png|jpe?g|gif|webp)\b)/i,
    effect: "it runs or leads elsewhere when the picture is opened in a browser",
  },
  {
    files: documents,
    pattern:
      /^[ \t>]{0,40}(?:[`~:]{3,9}[ \t]{0,9}\{(?:code-cell|jupyter-execute|ipython|plot|exec|r|python|julia|bash|sh|ojs)\b|\.\.[ \t]{1,9}(?:code-cell|jupyter-execute|execute_code|exec(?:ute)?|(?:program|command)-output|ipython|plot|runblock)::)|\bexec[ \t]{0,9}=[ \t]{0,9}["'](?:on|true|yes|1)["']/i,
    effect: "what makes the documents runs it",
  },
  {
    files: documents,
    // A file of the host, a hidden one or one from elsewhere: examples are taken in from the project itself.
    pattern:
      /(?:\b(?:literal)?include::|\{\{[ \t]{0,9}#\w{0,20}include\b|--8<--|:(?:file|url):)[ \t]{0,9}["']?(?:https?:|file:|~|\/(?:etc|home|root|proc|var|run|sys)\b|(?:\.\.\/){4}|(?:[^\s"']{0,200}\/)?\.[a-z])/i,
    effect: "what makes the documents puts another file into a page",
  },
  {
    files: /\.(?:ya?ml|json5?|jsonc)$/,
    pattern: /!!?(?:python|js|java|perl|php)\/|!ruby\/|tag:yaml\.org,2002:(?:python|java|js|perl)\b/,
    effect: "a loader that trusts the file makes an object of it, and can run code",
  },
  {
    files: /\.(?:xml|xhtml|plist|xlf|xliff|html?)$/,
    pattern: /<!ENTITY[ \t]{1,20}(?:%[ \t]{1,20})?[\w.:-]{1,80}[ \t]{1,20}(?:SYSTEM|PUBLIC)\b/,
    effect: "a reader that trusts the file reads or fetches what it names",
  },
  {
    files: /./,
    pattern: /-\*-.{0,200}\beval[ \t]{0,20}:|^.{0,20}\beval:[ \t]{0,20}\(/,
    effect: "Emacs runs it when the file is opened",
  },
  {
    files: /./,
    pattern:
      /\b(?:vim?|Vim|ex)(?:[<=>]?\d{1,4})?:.{0,200}\b(?:mle|modelineexpr|(?:fde|foldexpr|fdt|foldtext|inde|indentexpr|fex|formatexpr|inex|includeexpr|bexpr|balloonexpr|pexpr|printexpr|pex|dex|diffexpr|ccv|charconvert|pex|patchexpr|stl|statusline|tal|tabline|ruf|rulerformat|tfu|tagfunc|ofu|omnifunc|cfu|completefunc|opfunc|operatorfunc|makeprg|mp|gp|grepprg|ep|equalprg|fp|formatprg|kp|keywordprg|tags?|tsr|thesaurus|tsrfu|spf|spellfile|rtp|runtimepath|pp|packpath|sh|shell)[+^-]?=)/,
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

/** `include /&#42; &#42;/ !(…)` is one to a compiler. */
const withoutComments = (text: string): string =>
  text.includes("/*") ? text.replaceAll(/\/\*[^\n*]{0,200}\*{1,9}\//g, " ") : text;

/** Added lines of source that a compiler, a generator, an interpreter or an editor takes for an order. */
export const codeDirectives: ContentRule = {
  mayFind(path, text) {
    const plain = withoutComments(text);
    return rulesFor(path).some(({ pattern }) => {
      const cheap = inText.get(pattern)!;
      return cheap.test(text) || (plain !== text && cheap.test(plain));
    });
  },
  find(path, old, text) {
    const rules = rulesFor(path);
    const isAdded = addedLines(old, text);
    const found: { line: number; why: string }[] = [];
    text.split("\n").forEach((full, at) => {
      if (!isAdded(at + 1)) return;
      const line = full.slice(0, maxLineChars);
      const plain = withoutComments(line);
      const rule = rules.find(
        ({ pattern, isHeader }) =>
          (isHeader !== true || at < headerLines) &&
          (pattern.test(line) || (plain !== line && pattern.test(plain))),
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
