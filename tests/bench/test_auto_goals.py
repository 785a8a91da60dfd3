"""The table of goals says which of them are missed."""

from benchmarks.auto.goals import Goal, list_goals


def test_a_figure_outside_its_bounds_is_missed_as_it_is_shown():
    goal = Goal("covered", [(0.9, 1.0)] * 3, [(0.8996, "subj"), (0.89, "subj"), (0.95, "")])
    assert goal.tabulate() == ["covered", "0.900 subj", "0.890 subj, **missed**", "0.950"]


def test_every_goal_has_a_figure_for_each_number_of_labels():
    goals = list(list_goals())
    assert len(goals) > 10
    assert all(len(goal.tabulate()) == 4 for goal in goals)
