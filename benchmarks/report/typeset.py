"""Mathematics typeset: the plain notation of the claims as MathML, the prose between left as it is.

The notation is that of the claims: `Q_{t−1}`, `V*`, `(1−alpha)^{K−i}`, `√(alpha log(SAT/delta))`, Greek letters by
name. Words that are no notation end a formula, so a bracket may open in one formula and close in the next; it is
drawn where it stands. A slash stays a slash: `gamma R log S/varrho` is what the paper prints, and what its numerator
is only a reader knows.
"""

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass

from benchmarks.report.markup import Html, escaped, tag

GREEK = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "zeta": "ζ", "eta": "η", "theta": "θ",
    "kappa": "κ", "lam": "λ", "lambda": "λ", "mu": "μ", "pi": "π", "rho": "ρ", "varrho": "ϱ", "sigma": "σ",
    "tau": "τ", "phi": "φ", "psi": "ψ", "omega": "ω", "Lambda": "Λ", "Phi": "Φ", "Pi": "Π",
}  # fmt: skip
FUNCTIONS = frozenset({"max", "min", "log", "exp", "span", "Var", "LSE", "mm", "softmax", "lim", "sup", "Cov"})
PRODUCTS = frozenset({"SA", "SAT", "TSA", "TQ", "PV", "Ru", "Rq", "xs"})
"""Letters written together that are factors, not a word."""
ARTICLES = frozenset({"a", "A"})
SIGNS = frozenset({"=", "<", ">", "<=", ">=", "!=", "→", "+", "−", "≈"})
RELATIONS = {"<=": "≤", ">=": "≥", "!=": "≠", "->": "→"}
POWERS = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁻ᵀ", "0123456789−⊤", strict=True))
INDICES = dict(zip("₀₁₂₃₄₅₆₇₈₉∞", "0123456789∞", strict=True))
BRACKETS = {"(": ")", "[": "]", "{": "}"}
UNBROKEN = 24
"""Characters of a formula that stay on one line."""
CLOSING = ",.;:)]-!?"
"""What follows a formula on the same line if it follows without a space."""
HAT = "\u0302"
HATTED = {"ĉ": "c", "Ô": "O", "Ŝ": "S", "Â": "A", "Ĉ": "C"}

_GREEK_WORDS = "|".join(sorted(GREEK, key=len, reverse=True))
_TOKEN = re.compile(
    r"`[^`]*`"  # names from the code
    r"|(?:eq|thm|lemma|Fig)[.:][\w=]+"  # labels of the paper
    r"|\d+(?:\.\d+)?(?:e[-−+]?\d+)?"
    rf"|[A-Za-z]{HAT}"
    rf"|(?:{_GREEK_WORDS})(?![a-z])"
    r"|[a-z]{4,}_[a-z]{4,}"
    r"|[A-Za-z]{2,}\d+\b"  # names with a number: GTD2
    r"|[A-Za-z]+(?:'s\b|'t\b)?(?:-[A-Za-z]{2,}(?:-[A-Za-z]+)*)?"
    r"|(?<=[\w*)])'s\b"  # of a number or a formula: Algorithm 2's
    r"|\w"
    r"|<=|>=|!=|->"
    r"|\s+|."
)
_NEUTRAL = frozenset(" ,:()[]{}|'")


@dataclass
class _Token:
    text: str
    kind: str  # math, word, neutral


def _kind(text: str) -> str:
    if text[0] == "`" or re.match(r"(eq|thm|lemma|Fig)[.:]", text):
        return "word"
    if text.isspace() or text in _NEUTRAL:
        return "neutral"
    if text in GREEK or text in FUNCTIONS or text in PRODUCTS or text.rstrip(HAT) in HATTED:
        return "math"
    if text.isalpha() and text.isascii():
        return "math" if len(text) == 1 else "word"
    if text in '"?!-;.':
        return "word"
    return "math" if len(text.rstrip(HAT)) == 1 or text in RELATIONS or text[0].isdigit() else "word"


def _tokens(text: str) -> list[_Token]:
    found: list[_Token] = []
    for match in _TOKEN.finditer(text):
        word = match[0]
        head, hyphen, tail = word.partition("-")
        if hyphen and tail and (len(head) == 1 or head in GREEK):
            found += [_Token(head, "math"), _Token("-" + tail, "word")]
        elif "'" in word and len(word) == 3 and word[0] != "'":
            found += [_Token(word[0], "math"), _Token(word[1:], "word")]
        else:
            found.append(_Token(word, _kind(word)))
    _mark_scripts(found)
    for place, token in enumerate(found):
        if token.text in ARTICLES and token.kind == "math" and not _is_symbol(found, place):
            token.kind = "word"
    return found


def _mark_scripts(tokens: list[_Token]) -> None:
    """What follows _ or ^, in braces or not, is an index or a power even if it looks like a word: t_mix, Σ_{ij}."""
    inside = False
    for before, token in itertools.pairwise(tokens):
        inside = (inside or before.text in ("_", "^")) and token.text != "}"
        if inside and (token.text.isalpha() or token.text == "-"):
            token.kind = "math"
        inside = inside and (token.text == "{" or before.text not in ("_", "^"))


def _is_symbol(tokens: list[_Token], place: int) -> bool:
    """Whether a letter that can be a word is a symbol: it touches notation."""
    before = tokens[place - 1].text if place else " "
    after = tokens[place + 1].text if place + 1 < len(tokens) else " "
    beyond = tokens[place + 2].text if place + 2 < len(tokens) else " "
    last = tokens[place - 2].text if place > 1 else " "
    relation = ("=", "<", ">", "<=", ">=", "→", "!=", "+", "−", "·", "~")
    return not (before in " (" and after.isspace()) or beyond in relation or last in relation


def _runs(tokens: list[_Token]) -> Iterator[tuple[bool, list[_Token]]]:
    """Stretches of notation and of prose; neutral marks belong to a formula only between notation."""
    run: list[_Token] = []
    for token in tokens:
        if token.kind == "word":
            yield from _split(run)
            yield False, [token]
            run = []
        else:
            run.append(token)
    yield from _split(run)


def _split(run: list[_Token]) -> Iterator[tuple[bool, list[_Token]]]:
    """Give spaces and marks at the ends of a stretch back to the prose, but keep brackets that have their partner."""
    math = [i for i, token in enumerate(run) if token.kind == "math"]
    if not any(not run[i].text[0].isdigit() and run[i].text not in FUNCTIONS for i in math):
        yield False, run
        return
    first, last = math[0], math[-1]
    while first and _opens(run[first - 1].text, run[first:]):
        first -= 1
    while last + 1 < len(run) and (run[last + 1].text in "|'" or _count(run[first : last + 1], run[last + 1].text) < 0):
        last += 1
    yield False, run[:first]
    yield True, run[first : last + 1]
    yield False, run[last + 1 :]


def _opens(text: str, tokens: list[_Token]) -> bool:
    """Whether what follows closes this bracket, or the bar of an absolute value."""
    if text == "|":
        return [token.text for token in tokens].count("|") % 2 == 1
    return text in BRACKETS and _count(tokens, BRACKETS[text]) > 0


def _count(tokens: list[_Token], closing: str) -> int:
    """How many more brackets of a kind are closed than opened."""
    texts = [token.text for token in tokens]
    return texts.count(closing) - sum(texts.count(opening) for opening, end in BRACKETS.items() if end == closing)


@dataclass
class _Parser:
    """Reads one formula; what it does not understand it shows as it is."""

    tokens: list[_Token]
    place: int = 0

    def row(self, closing: str = "") -> Html:
        """Everything up to the closing bracket or the end."""
        parts: list[Html] = []
        if not closing and self.tokens[0].text in SIGNS and len(self.tokens) > 1 and self.tokens[1].text.isspace():
            # The sign that a line may break before: between two pieces it still stands between two sides.
            sign = self.tokens[0].text
            parts.append(tag("mo", RELATIONS.get(sign, sign), form="infix", lspace="0"))
            self.place += 1
        while self.place < len(self.tokens):
            text = self.tokens[self.place].text
            if closing and text == closing:
                self.place += 1
                break
            parts.append(self.scripted())
        return Html("".join(parts))

    def scripted(self) -> Html:
        """An atom with what hangs on it: index, power, star, prime."""
        base = self.atom()
        index: list[Html] = []
        power: list[Html] = []
        while self.place < len(self.tokens):
            text = self.tokens[self.place].text
            if text == "'":
                self.place += 1
                # Beside the letter, not above it: as a power it shrinks to a dot in fonts without mathematics.
                base = tag("mrow", base, tag("mo", "′", lspace="0", rspace="0"))
            elif text == "_" or (text in INDICES and (text != "∞" or self._closes_norm())):
                index.append(self._hanging(INDICES))
            elif text == "^" or text in POWERS or (text == "*" and self._is_star()):
                power.append(self._hanging(POWERS))
            else:
                break
        if index and power:
            return tag("msubsup", base, tag("mrow", *index), tag("mrow", *power))
        if index:
            return tag("msub", base, tag("mrow", *index))
        return tag("msup", base, tag("mrow", *power)) if power else base

    def _hanging(self, small: dict[str, str]) -> Html:
        """One index or power: behind its mark, as a star, or in small characters."""
        text = self.tokens[self.place].text
        if text in small:
            return self._small(small)
        self.place += 1
        return tag("mo", "*") if text == "*" else self.script()

    def _is_star(self) -> bool:
        return self.place > 0 and not self.tokens[self.place - 1].text.isspace()

    def _closes_norm(self) -> bool:
        return self.place > 0 and self.tokens[self.place - 1].text == "‖"

    def _small(self, letters: dict[str, str]) -> Html:
        """Raised or lowered characters that stand together."""
        text = ""
        while self.place < len(self.tokens) and self.tokens[self.place].text in letters:
            text += letters[self.tokens[self.place].text]
            self.place += 1
        return tag("mn", text)

    def script(self) -> Html:
        """What follows _ or ^: a group in braces, or a sign and one atom."""
        if self.place >= len(self.tokens):
            return Html("")
        text = self.tokens[self.place].text
        if text == "{":
            self.place += 1
            return self.row("}")
        if text == "⌊":
            self.place += 1
            return Html(tag("mo", "⌊") + self.row("⌋") + tag("mo", "⌋"))
        if text in ("-", "−"):
            self.place += 1
            return Html(tag("mo", "−", form="prefix") + self.atom())
        return self.atom()

    def atom(self) -> Html:
        """One letter, number, sign, or a root with its argument."""
        token = self.tokens[self.place]
        self.place += 1
        text = token.text
        if text == "√":
            return tag("msqrt", self._argument())
        if text.isspace():
            return self._space()
        if text[0].isdigit() or text in "½¼∞":
            return tag("mn", text)
        if text in FUNCTIONS:
            return Html(tag("mi", text) + self._gap_after_function())
        if text in PRODUCTS:
            return tag("mrow", *(tag("mi", letter) for letter in text))
        return _letter_or_sign(text)

    def _space(self) -> Html:
        """A space stands for a product between two letters; around signs the signs have their own."""
        before = self.tokens[self.place - 2].text if self.place > 1 else ""
        after = self.tokens[self.place].text if self.place < len(self.tokens) else ""
        if not before or not after or before in FUNCTIONS:
            return Html("")
        if after in FUNCTIONS or (before[-1].isalnum() and after[0].isdigit()):
            return tag("mspace", width="0.17em")
        return Html("")

    def _gap_after_function(self) -> Html:
        """A thin gap between a function and an argument without brackets."""
        spaced = self.place + 1 < len(self.tokens) and self.tokens[self.place].text.isspace()
        return tag("mspace", width="0.17em") if spaced else Html("")

    def _argument(self) -> Html:
        if self.place < len(self.tokens) and self.tokens[self.place].text == "(":
            self.place += 1
            return self._balanced()
        return self.scripted() if self.place < len(self.tokens) else Html("")

    def _balanced(self) -> Html:
        """Up to the bracket that closes the one just read, which the root makes superfluous."""
        parts, depth = [], 1
        while self.place < len(self.tokens):
            text = self.tokens[self.place].text
            depth += (text == "(") - (text == ")")
            if depth == 0:
                self.place += 1
                break
            parts.append(self.scripted())
        return Html("".join(parts))


def _letter_or_sign(text: str) -> Html:
    if text in GREEK:
        return tag("mi", GREEK[text])
    if text in RELATIONS:
        return tag("mo", RELATIONS[text])
    plain = HATTED.get(text) or (text[0] if text.endswith(HAT) else None)
    if plain is not None:
        return tag("mover", tag("mi", plain), tag("mo", "^", stretchy="false"))
    if text.isalpha():
        return tag("mi", text)
    return tag("mo", "−" if text == "-" else text, stretchy="false")


def formula(text: str) -> Html:
    """A whole text as one formula.

    >>> formula("V*")
    '<math><msup><mi>V</mi><mrow><mo>*</mo></mrow></msup></math>'
    """
    return _formula([_Token(token.text, "math") for token in _tokens(text)])


def _formula(tokens: list[_Token]) -> Html:
    """A formula, in pieces between which a line may break: browsers do not break inside one."""
    pieces = []
    for part in _cut(tokens, after=frozenset(",:")):
        long = sum(len(token.text) for token in part) > UNBROKEN
        pieces += _cut(part, before=SIGNS) if long else [part]
    return Html(" ".join(tag("math", _Parser(piece).row()) for piece in pieces))


def _cut(
    tokens: list[_Token], *, before: frozenset[str] = frozenset(), after: frozenset[str] = frozenset()
) -> list[list[_Token]]:
    """Cut at spaces outside all brackets that stand before or after one of these."""
    pieces: list[list[_Token]] = [[]]
    depth = 0
    for place, token in enumerate(tokens):
        depth += (token.text in BRACKETS) - (token.text in BRACKETS.values())
        if depth <= 0 and token.text.isspace() and 0 < place < len(tokens) - 1:
            cut = tokens[place + 1].text in before or tokens[place - 1].text in after
        else:
            cut = False
        if cut:
            pieces.append([])
        else:
            pieces[-1].append(token)
    return [piece for piece in pieces if piece]


def prose(text: str) -> Html:
    """A sentence with its formulas typeset and everything else escaped.

    >>> prose("T is in the sup norm a gamma-contraction")
    '<math><mi>T</mi></math> is in the sup norm a <span class="whole"><math><mi>γ</mi></math>-</span>contraction'
    """
    parts: list[Html] = []
    last: Html | None = None
    for notation, tokens in _runs(_tokens(text)):
        if notation:
            last = _formula(tokens)
            parts.append(last)
            continue
        for token in tokens:
            piece = _plain(token.text)
            if parts and parts[-1] is last and token.text[0] in CLOSING:
                parts[-1] = _together(last, piece)
            else:
                parts.append(piece)
    return Html("".join(parts))


def _together(formula: Html, piece: Html) -> Html:
    """A formula and the mark after it: browsers would break the line between the two."""
    before, math, last = formula.rpartition("<math>")
    return Html(before + tag("span", Html(math + last), piece, class_="whole"))


def _plain(text: str) -> Html:
    return tag("code", text[1:-1]) if len(text) > 2 and text[0] == text[-1] == "`" else escaped(text)
