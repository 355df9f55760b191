from __future__ import annotations

from registry.compat import Level
from registry.dev.state.settings import Settings, merged_metadata, merged_rules, with_version
from registry.models import Metadata, Rule, RuleSet

LOW = Metadata(tags={"a": ["x"], "b": ["y"]}, properties={"p": "1", "q": "2"}, sensitive=["p"])
HIGH = Metadata(tags={"b": ["z"]}, properties={"q": "3"}, sensitive=["q"])


def test_what_is_above_counts() -> None:
    both = merged_metadata(LOW, HIGH)
    assert both == Metadata(tags={"a": ["x"], "b": ["z"]}, properties={"p": "1", "q": "3"}, sensitive=["p", "q"])
    assert merged_metadata(None, HIGH) == HIGH
    assert merged_metadata(LOW, None) == LOW
    assert merged_metadata(None, None) is None


def test_rules_of_one_name_are_replaced() -> None:
    low = RuleSet(domain_rules=[Rule("a", expr="1"), Rule("b", expr="2")], enable_at="x")
    high = RuleSet(domain_rules=[Rule("a", expr="3")], migration_rules=[Rule("m")])
    both = merged_rules(low, high)
    assert both == RuleSet(
        migration_rules=[Rule("m")], domain_rules=[Rule("b", expr="2"), Rule("a", expr="3")], enable_at="x"
    )
    assert merged_rules(None, high) is high
    assert merged_rules(low, None) is low


def test_the_version_becomes_a_property() -> None:
    assert with_version(None, 3).properties == {"confluent:version": "3"}
    assert with_version(LOW, 3).properties == {"p": "1", "q": "2", "confluent:version": "3"}


def test_settings_survive_their_json() -> None:
    settings = Settings(
        Level.FULL, "LENIENT", "major", "other", True, False, LOW, HIGH, RuleSet(domain_rules=[Rule("a")]), None
    )
    assert Settings.from_dict(settings.to_dict()) == settings
    assert Settings.from_dict({}) == Settings()
    assert settings.adds_to_schemas
    assert not Settings(Level.FULL).adds_to_schemas


def test_none_unsets() -> None:
    assert Settings(Level.FULL, alias="a").updated({"alias": None}) == Settings(Level.FULL)
